//! Random syntax trees: printed and parsed again, they are the same.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use raddle_ptx::isa::{Opcode, Type, Word};
use raddle_ptx::source::Span;
use raddle_ptx::syntax::ast::{
    Declarator, Directive, Expr, FileDirective, Function, Guard, Init, InlinedAt, Instruction, Item, Linkage, Loc,
    MemoryOperand, Module, Name, Operand, OperandKind, Prototype, Space, Statement, Variable,
};
use raddle_ptx::syntax::{parse, print};

const NOWHERE: Span = Span { start: 0, end: 0 };

fn name() -> impl Strategy<Value = Name> {
    "[a-zA-Z][a-zA-Z0-9_$]{0,6}|[_$%][a-zA-Z0-9_$]{1,6}".prop_map(|text| Name { text, span: NOWHERE })
}

/// What may stand between quotes.
fn string() -> impl Strategy<Value = String> {
    "([a-zA-Z0-9 ./;{}é]|\\\\[nt\\\\\"]){0,10}"
}

fn number() -> impl Strategy<Value = Expr> {
    prop_oneof![any::<i64>().prop_map(Expr::Int), any::<u32>().prop_map(Expr::F32), any::<u64>().prop_map(Expr::F64)]
}

fn init() -> impl Strategy<Value = Init> {
    let address = (name(), any::<i64>(), any::<bool>());
    let address = address.prop_map(|(name, offset, generic)| Expr::Address { name, offset, generic });
    let value = prop_oneof![number(), address].prop_map(Init::Value);
    value.prop_recursive(3, 12, 4, |inner| vec(inner, 0..4).prop_map(Init::List))
}

fn declarator() -> impl Strategy<Value = Declarator> {
    let dim = of((0..=i64::MAX).prop_map(i64::cast_unsigned));
    (name(), of(any::<u32>()), vec(dim, 0..3), of(init())).prop_map(|(name, count, dims, init)| Declarator {
        name,
        count,
        dims,
        init,
    })
}

fn attributes() -> impl Strategy<Value = Vec<String>> {
    let words = |list: &[&str]| list.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    select(vec![
        words(&[]),
        words(&["attribute(.managed)"]),
        words(&["ptr"]),
        words(&["ptr", "global", "align 8"]),
        words(&["attribute( .managed, 5 )", "ptr", "shared", "attribute(.x)"]),
    ])
}

/// A declaration in one of `spaces` of up to `most` names.
fn variable(spaces: &'static [Space], most: usize) -> impl Strategy<Value = Variable> {
    let word = Word::ALL.iter().filter_map(|w| Type::from_word(*w)).collect::<Vec<_>>();
    let align = of((0..=12_u32).prop_map(|n| 1 << n));
    let vector = of(select(vec![2, 4]));
    (select(spaces), align, vector, select(word), attributes(), vec(declarator(), 1..=most)).prop_map(
        |(space, align, vector, ty, attributes, names)| Variable {
            linkage: Linkage::Internal,
            space,
            align,
            vector,
            ty,
            attributes,
            names,
            span: NOWHERE,
        },
    )
}

fn params() -> impl Strategy<Value = Vec<Variable>> {
    vec(variable(&[Space::Param, Space::Reg], 1), 0..3)
}

fn operand(kind: OperandKind) -> Operand {
    Operand { kind, span: NOWHERE }
}

fn plain_name() -> impl Strategy<Value = Operand> {
    name().prop_map(|name| operand(OperandKind::Name { name, component: None, offset: 0 }))
}

fn simple_operand() -> impl Strategy<Value = Operand> {
    let offset = (name(), any::<i64>());
    let memory = (of(name()), any::<i64>()).prop_map(|(base, offset)| MemoryOperand { base, offset });
    let leaf = prop_oneof![
        4 => plain_name(),
        1 => offset.prop_map(|(name, offset)| operand(OperandKind::Name { name, component: None, offset })),
        1 => (name(), 0..4_u8)
            .prop_map(|(name, c)| operand(OperandKind::Name { name, component: Some(c), offset: 0 })),
        1 => name().prop_map(|name| operand(OperandKind::Not(name))),
        2 => number().prop_map(|e| operand(OperandKind::Const(e))),
        1 => Just(operand(OperandKind::Sink)),
        2 => memory.prop_map(|m| operand(OperandKind::Memory(m))),
    ];
    leaf.prop_recursive(3, 10, 4, |inner| {
        let several = vec(inner, 0..4);
        prop_oneof![
            several.clone().prop_map(|list| operand(OperandKind::Vector(list))),
            // What follows the name tells a texture from an address, and a list from an expression.
            (plain_name(), several.clone(), plain_name()).prop_map(|(first, mut list, last)| {
                list.insert(0, first);
                list.push(last);
                operand(OperandKind::Texture(list))
            }),
            (plain_name(), several).prop_map(|(first, mut list)| {
                list.insert(0, first);
                operand(OperandKind::List(list))
            }),
            Just(operand(OperandKind::List(Vec::new()))),
        ]
    })
}

fn any_operand() -> impl Strategy<Value = Operand> {
    let pair = (plain_name(), simple_operand()).prop_map(|pair| operand(OperandKind::Pair(Box::new(pair))));
    prop_oneof![9 => simple_operand(), 1 => pair]
}

fn instruction() -> impl Strategy<Value = Statement> {
    let guard = of((name(), any::<bool>()).prop_map(|(register, negated)| Guard { register, negated }));
    let words = vec(select(Word::ALL).prop_map(|w| (w, NOWHERE)), 0..4);
    (guard, select(Opcode::ALL), words, vec(any_operand(), 0..5)).prop_map(|(guard, opcode, words, operands)| {
        Statement::Instruction(Instruction { guard, opcode, words, operands, span: NOWHERE, head: NOWHERE })
    })
}

fn loc() -> impl Strategy<Value = Loc> {
    let place = || (any::<u32>(), any::<u32>(), any::<u32>());
    let inlined = (name(), any::<i64>(), place()).prop_map(|(function, offset, (file, line, column))| InlinedAt {
        function: function.text,
        offset,
        file,
        line,
        column,
    });
    (place(), of(inlined)).prop_map(|((file, line, column), inlined)| Loc { file, line, column, inlined })
}

fn statement() -> impl Strategy<Value = Statement> {
    let prototype = (name(), params(), params(), any::<bool>());
    let leaf = prop_oneof![
        8 => instruction(),
        2 => name().prop_map(Statement::Label),
        2 => variable(&[Space::Reg, Space::Local, Space::Shared, Space::Param], 3).prop_map(Statement::Variable),
        1 => loc().prop_map(Statement::Loc),
        1 => string().prop_map(Statement::Pragma),
        1 => (name(), vec(name(), 0..3)).prop_map(|(n, list)| Statement::BranchTargets(n, list)),
        1 => (name(), vec(name(), 0..3)).prop_map(|(n, list)| Statement::CallTargets(n, list)),
        1 => prototype.prop_map(|(name, returns, params, noreturn)| {
            Statement::CallPrototype(Prototype { name, returns, params, noreturn })
        }),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| vec(inner, 0..4).prop_map(Statement::Block))
}

fn linkage() -> impl Strategy<Value = Linkage> {
    use Linkage as L;
    select(vec![L::Internal, L::Visible, L::Extern, L::Weak, L::Common])
}

fn function() -> impl Strategy<Value = Function> {
    let names = ["maxntid", "reqntid", "minnctapersm", "maxnreg", "maxnctapersm", "explicitcluster"];
    let directive = (select(names.to_vec()), vec(any::<u32>(), 0..4)).prop_map(|(name, values)| Directive {
        name: name.to_owned(),
        values,
        span: NOWHERE,
    });
    let head = (any::<bool>(), linkage(), any::<bool>(), name());
    (head, params(), params(), vec(directive, 0..3), of(vec(statement(), 0..8))).prop_map(
        |((is_entry, linkage, noreturn, name), returns, params, directives, body)| Function {
            is_entry,
            linkage,
            noreturn,
            name,
            returns,
            params,
            directives,
            body,
            span: NOWHERE,
        },
    )
}

fn item() -> impl Strategy<Value = Item> {
    let space = &[Space::Global, Space::Const, Space::Shared, Space::Tex, Space::Reg, Space::Local, Space::Param];
    let module_variable =
        (linkage(), variable(space, 3)).prop_map(|(linkage, v)| Item::Variable(Variable { linkage, ..v }));
    let file = (any::<u32>(), string(), of(any::<(u64, u64)>()))
        .prop_map(|(index, name, stamp)| Item::File(FileDirective { index, name, stamp }));
    let section = "\\.section \\.debug_[a-z]{1,5} \\{ (\\.b8 [0-9], )?(\\{ x \\} )?\\}";
    prop_oneof![
        3 => module_variable,
        4 => function().prop_map(Item::Function),
        1 => file,
        1 => section.prop_map(|text| Item::Section(Name { text, span: NOWHERE })),
        1 => string().prop_map(Item::Pragma),
        1 => (name(), name()).prop_map(|(new, old)| Item::Alias(new, old)),
    ]
}

fn module() -> impl Strategy<Value = Module> {
    let address_size = of(select(vec![32, 64]));
    (any::<(u8, u8)>(), vec(name(), 0..3), address_size, vec(item(), 0..5)).prop_map(
        |(version, target, address_size, items)| Module { version: Some(version), target, address_size, items },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn a_random_tree_reads_back_as_printed(tree in module()) {
        let text = print(&tree);
        let (again, diagnostics) = parse(&text);
        prop_assert!(diagnostics.is_empty(), "{diagnostics:?}\n{text}");
        prop_assert!(again == tree, "{text}\n{tree:?}\n{again:?}");
        prop_assert_eq!(print(&again), text);
    }
}
