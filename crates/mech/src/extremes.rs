//! Numbers of a machine far from any that was ever built.

use raddle_sim::config::{Kind, Machine, Source, keys};
use raddle_sim::job::Job;
use raddle_sim::result::Ending;
use raddle_sim::seam::Seam;

/// Adds one to each element, through shared memory.
const PTX: &str = "\
.version 3.2
.target sm_20
.address_size 64
.visible .entry k(.param .u64 a)
{
    .shared .u32 part[64];
    .reg .u64 %a, %o, %s;
    .reg .u32 %i, %t, %v;
    mov.u32 %t, %tid.x;
    mov.u32 %i, %ctaid.x;
    mad.lo.u32 %i, %i, 64, %t;
    ld.param.u64 %a, [a];
    mul.wide.u32 %o, %i, 4;
    add.u64 %a, %a, %o;
    mul.wide.u32 %o, %t, 4;
    mov.u64 %s, part;
    add.u64 %s, %s, %o;
    ld.global.u32 %v, [%a];
    st.shared.u32 [%s], %v;
    bar.sync 0;
    ld.shared.u32 %v, [%s];
    add.u32 %v, %v, 1;
    st.global.u32 [%a], %v;
    ret;
}
";

/// What passes the checks runs: nothing panics, hangs or takes all memory.
#[test]
fn every_number_of_a_machine_runs_or_is_refused() {
    const VALUES: [u32; 14] = [0, 1, 2, 3, 7, 8, 33, 64, 256, 4096, (1 << 16) - 1, 1 << 16, (1 << 31) - 1, u32::MAX];
    let registry = crate::registry();
    let mut ran = 0;
    for preset in ["gtx480", "vws-sm"] {
        for field in keys().fields.iter().filter(|field| field.kind == Kind::Count) {
            for value in VALUES {
                let set = format!("{}={value}", field.path);
                let Ok(machine) = Machine::load(Source::Preset(preset), &[&set]) else { continue };
                let mut job = Job::new(PTX, "k").and_then(|job| job.buffer(&[7; 128])).unwrap();
                // A block may be too large for the machine; that is said, too.
                let Ok(result) = job.run(&registry, &machine.config, 2, 64) else { continue };
                assert!(matches!(result.ending, Ending::Completed), "{preset} {set}: {:?}", result.ending);
                assert_eq!(job.words(0), [8; 128], "{preset} {set}");
                ran += 1;
            }
        }
    }
    assert!(ran > 1000, "{ran}");
}

#[test]
fn models_that_move_threads_are_refused_where_warps_have_slices() {
    let registry = crate::registry();
    for model in registry.iter().filter(|mechanism| mechanism.info.seam == Seam::Divergence) {
        let name = model.info.name;
        let set = ["sm.warp_width=4", "sm.simd_width=4", "sm.slices=8", &format!("mechanism.divergence={name}")];
        let machine = Machine::load(Source::Preset("vws-sm"), &set).unwrap();
        let wrong = registry.check(&machine.config).err().unwrap_or_default();
        let refused =
            wrong.iter().any(|(key, text)| key == "mechanism.divergence" && text.contains("cannot leave their slice"));
        let stays = name.starts_with("pdom") || name == "its";
        assert_eq!(refused, !stays, "{name}: {wrong:?}");
    }
}
