//! Every `.ptx` file under `tests/ptx`, under every engine, warp width and instruction-set level.

fn kernel_file(path: &std::path::Path) -> datatest_stable::Result<()> {
    Ok(raddle_testkit::kernel_file::check(path)?)
}

datatest_stable::harness! {
    { test = kernel_file, root = "../../tests/ptx", pattern = r"\.ptx$" },
}
