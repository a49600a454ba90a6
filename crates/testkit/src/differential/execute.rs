//! Runs a case on the simulator and compares.

use super::Case;
use crate::engine::Engine;
use raddle_exec::{DeviceMemory, Image, Launch, RunError};
use raddle_ptx::source::LineIndex;
use std::sync::Arc;

impl Case {
    /// Runs the case under every engine and several warp widths; all must leave the memory the
    /// host left.
    ///
    /// # Errors
    /// Which engine differs, and where.
    pub fn execute(&self) -> Result<(), String> {
        for engine in Engine::all() {
            // Narrow warps part and join differently; the interpreter only needs one width.
            let widths: &[u32] = if engine == Engine::Reference { &[32] } else { &[32, 8] };
            // Warp-wide operations of these programs are written for warps of 32.
            let widths = if self.has_warp_operations() { &[32] } else { widths };
            for &width in widths {
                self.execute_with(engine, width)
                    .map_err(|e| format!("{} with {engine:?} at warp width {width}: {e}", self.name))?;
            }
        }
        Ok(())
    }

    fn has_warp_operations(&self) -> bool {
        ["shfl", "vote", "match.", "activemask", "redux", "%laneid", "%lanemask"].iter().any(|w| self.ptx.contains(w))
    }

    fn execute_with(&self, engine: Engine, width: u32) -> Result<(), String> {
        let (module, diagnostics) = raddle_ptx::load(&self.ptx);
        if let Some(d) = diagnostics.first() {
            return Err(d.one_line(&self.ptx, &LineIndex::new(&self.ptx)));
        }
        let module = Arc::new(module);
        let mut memory = DeviceMemory::new();
        let image = Image::load(module.clone(), &mut memory).map_err(|e| e.to_string())?;
        let layout = image.kernel(&self.kernel).map_err(|e| e.to_string())?;
        let mut place = |name: &str, words: &[u32]| -> Result<u64, String> {
            let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            let address = memory.alloc(name, bytes.len() as u64).map_err(|e| e.to_string())?;
            memory.write(address, &bytes).map_err(|e| e.to_string())?;
            Ok(address)
        };
        let input = place("in", &self.input)?;
        let out = place("out", &self.initial_out)?;
        let mut params = [input.to_le_bytes(), out.to_le_bytes()].concat();
        params.extend(self.n.to_le_bytes());
        let launch = Launch {
            grid: self.grid,
            block: self.block,
            params,
            max_thread_insts: Some(500_000_000),
            ..Launch::default()
        };
        engine.run(&image, &layout, &launch, &mut memory, width).map_err(|e| match e {
            RunError::Fault(fault) => fault.describe(&module, Some(&self.ptx)),
            RunError::Load(error) => error.to_string(),
        })?;
        let mut bytes = vec![0; self.initial_out.len() * 4];
        memory.read(out, &mut bytes).map_err(|e| e.to_string())?;
        let words: Vec<u32> = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        self.check(&words).map_err(|m| format!("{m:?}"))
    }
}
