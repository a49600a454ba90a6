//! What models that keep a record of each warp have in common.

/// Forgets the warps that `have_ended`.
pub(super) fn forget<W>(warps: &mut [Option<W>], have_ended: impl Fn(&W) -> bool) {
    for warp in warps {
        warp.take_if(|warp| have_ended(warp));
    }
}

/// How a warp's record says that lanes wait at a barrier of their block.
pub(super) fn waits_for_barrier(number: u8) -> Option<String> {
    Some(format!("barrier {number}"))
}

/// The same of lanes that wait for others at a `.sync` operation.
pub(super) fn waits_for_lanes(lanes: u32) -> Option<String> {
    Some(format!("lanes {lanes:#x} of its warp"))
}
