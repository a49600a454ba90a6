use super::*;

/// The kernel `k` of a module.
fn load(text: &str) -> Result<KernelLayout, LoadError> {
    let (module, diagnostics) = raddle_ptx::load(&format!(".version 6.0\n.target sm_50\n.address_size 64\n{text}"));
    assert!(!diagnostics.iter().any(raddle_ptx::Diagnostic::is_error), "{diagnostics:?}");
    Image::load(Arc::new(module), &mut DeviceMemory::new())?.kernel("k")
}

#[test]
fn variables_that_have_no_room_are_named() {
    let global = load(".global .b8 big[1099511627776];\n.entry k() { ret; }").unwrap_err();
    assert_eq!(
        global.to_string(),
        "variable `big` has 1099511627776 bytes, and 0 are taken; a device has 8589934592, that is 8 GiB"
    );
    let refused = |before: &str, params: &str, body: &str| {
        let text = format!("{before}\n.entry k({params}) {{ .reg .u64 %a; {body} ret; }}");
        match load(&text) {
            Err(LoadError::TooLarge { name, bytes, space, .. }) => (name, bytes, space),
            other => panic!("{other:?}"),
        }
    };
    // Sizes that 32 bits hold, do not hold, and hold again once cut.
    for bytes in [1 << 30, (1 << 32) + 4, 1 << 40] {
        let array = format!(".b8 big[{bytes}]");
        let big = |space| ("big".to_owned(), bytes, space);
        assert_eq!(refused(&format!(".const {array};"), "", ""), big("constant memory"));
        assert_eq!(refused("", "", &format!(".local {array};")), big("local memory for each thread"));
        assert_eq!(refused("", "", &format!(".shared {array}; mov.u64 %a, big;")), big("shared memory"));
        assert_eq!(refused("", &format!(".param {array}"), ""), big("parameters"));
    }
    assert!(load(".entry k() { .local .b8 most[524288]; ret; }").is_ok());
}

/// Local memory and recursion of a kernel that calls the first of some functions with 16 bytes each, of which each calls
/// those of `callees`.
fn calls(count: usize, callees: impl Fn(usize) -> Vec<usize>) -> (u32, bool) {
    let function = |f: usize| {
        let calls: String = callees(f).iter().map(|c| format!("call f{c}; ")).collect();
        format!(".func f{f}() {{ .local .b8 own[16]; {calls}ret; }}\n")
    };
    let declared: String = (0..count).map(|f| format!(".func f{f}();\n")).collect();
    let defined: String = (0..count).map(function).collect();
    let layout = load(&format!("{declared}{defined}.entry k() {{ call f0; ret; }}")).unwrap();
    (layout.local_bytes, layout.recursive)
}

#[test]
fn any_graph_of_calls_can_be_laid_out() {
    // Two ways on from each, so that there are 2^30 through all.
    let diamonds = |f: usize| if f < 58 { vec![f / 2 * 2 + 2, f / 2 * 2 + 3] } else { vec![] };
    assert_eq!(calls(60, diamonds), (16 * 30, false));
    let chain = |count: usize| move |f: usize| if f + 1 < count { vec![f + 1] } else { vec![] };
    assert_eq!(calls(20_000, chain(20_000)), (16 * 20_000, false));
    assert_eq!(calls(40_000, chain(40_000)), (MAX_STACK_BYTES, false), "no more than there may be");
    assert_eq!(calls(3, |f| vec![(f + 1) % 3]), (48, true));
    assert_eq!(calls(1, |_| vec![0]), (16, true));
}

#[test]
fn values_that_fit_no_frame_are_placed_without_wrapping() {
    assert_eq!(abi_offsets([(1, 1), (4, 4), (1 << 32, 8), (4, 4)]), [0, 4, 8, MOST_FRAME_BYTES]);
}

#[test]
fn a_variable_can_be_placed_in_an_allocation_that_is_there() {
    let text = ".version 6.0\n.target sm_50\n.address_size 64\n.global .u32 first = 7;\n.global .u32 second = 9;\n\
        .global .u64 pointer = second;\n";
    let mut memory = DeviceMemory::new();
    let at = memory.alloc("mine", 64).unwrap() + 16;
    let placed = BTreeMap::from([("second".to_owned(), at)]);
    let image = Image::load_placed(Arc::new(raddle_ptx::load(text).0), &mut memory, &placed).unwrap();
    assert_eq!(image.address(VarId(1)), Some(at));
    let read = |address: u64, bytes: usize| {
        let mut word = [0; 8];
        memory.read(address, &mut word[..bytes]).unwrap();
        u64::from_le_bytes(word)
    };
    assert_eq!((read(at, 4), read(image.address(VarId(2)).unwrap(), 8)), (9, at));
    assert_eq!(memory.allocations().len(), 3);
}
