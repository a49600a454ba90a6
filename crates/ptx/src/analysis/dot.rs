//! The control-flow graph as a drawing, in the DOT language of Graphviz.
//!
//! One table per block: its number, label and lines on top, then its instructions as written. A
//! branch on which threads may diverge is shaded, its edges have the same colour, and a dashed arrow
//! leads to the block where they reconverge, whose head is shaded. Loops are framed. Render with
//! `dot -Tsvg`.

use super::{Block, BlockId, Cfg, Dominators, LoopId, Loops, PostDominators, Uniformity};
use crate::ir::{Function, InstId, Module, Operand};
use crate::isa::Opcode;
use crate::num::fit;
use crate::source::LineIndex;
use std::collections::HashMap;
use std::fmt::Write;

/// Blocks with more instructions than this show their ends only.
const SHOWN_IN_FULL: usize = 12;
/// Instructions shown at each end of a long block.
const SHOWN_AT_ENDS: usize = 4;
/// Characters after which a line is cut.
const LINE_WIDTH: usize = 56;

const INK: &str = "#2b2f36";
const QUIET: &str = "#7a828e";
const FRAME: &str = "#a9b0ba";
const PAPER: &str = "#ffffff";
const HEAD: &str = "#eef0f3";
const DIVERGE: &str = "#c2570c";
const DIVERGE_FILL: &str = "#fde3cd";
const REJOIN: &str = "#0f766e";
const REJOIN_FILL: &str = "#cdebe4";
const LOOP_FILL: &str = "#f7f8fb";

/// Draws the graph of `function`; `source` is the text the module was loaded from.
#[must_use]
pub fn dot(module: &Module, function: &Function, source: &str) -> String {
    let cfg = Cfg::new(function);
    let post = PostDominators::new(&cfg);
    let uniform = Uniformity::new(module, function, &cfg, &post);
    let loops = Loops::new(&cfg, &Dominators::new(&cfg));
    let mut rejoins = vec![false; cfg.blocks.len() + 1];
    for branch in uniform.divergent() {
        let at = post.ipdom(cfg.block_of(branch)).unwrap_or_else(|| cfg.exit());
        rejoins[at.index()] = true;
    }
    let lines = LineIndex::new(source);
    let mut place = vec![None; cfg.blocks.len() + 1];
    for (i, block) in cfg.reverse_postorder().iter().enumerate() {
        place[block.index()] = Some(i);
    }
    let mut labels = vec![Vec::new(); cfg.blocks.len() + 1];
    for label in function.labels.iter() {
        let block = cfg.block_of(label.at);
        if cfg.get(block).is_some_and(|b| b.first == label.at) {
            labels[block.index()].push(label.name.as_str());
        }
    }
    let mut parts: HashMap<Option<LoopId>, Part> = HashMap::new();
    for (block, _) in cfg.iter() {
        parts.entry(loops.innermost(block)).or_default().blocks.push(block);
    }
    for (i, l) in loops.loops.iter().enumerate() {
        parts.entry(l.parent).or_default().loops.push(LoopId(fit(i)));
    }
    let out = String::new();
    let mut drawing =
        Drawing { function, source, lines, cfg, post, uniform, loops, rejoins, place, labels, parts, out };
    // Writing to a String cannot fail.
    let _ = drawing.graph();
    drawing.out
}

struct Drawing<'a> {
    function: &'a Function,
    source: &'a str,
    lines: LineIndex,
    cfg: Cfg,
    post: PostDominators,
    uniform: Uniformity,
    loops: Loops,
    rejoins: Vec<bool>,
    /// Where each block stands in reverse postorder.
    place: Vec<Option<usize>>,
    /// The labels of each block.
    labels: Vec<Vec<&'a str>>,
    /// What is directly inside each loop and outside of all.
    parts: HashMap<Option<LoopId>, Part>,
    out: String,
}

/// Blocks and loops that are directly inside a loop.
#[derive(Default)]
struct Part {
    blocks: Vec<BlockId>,
    loops: Vec<LoopId>,
}

type Written = std::fmt::Result;

impl Drawing<'_> {
    fn graph(&mut self) -> Written {
        let name = &self.function.name;
        writeln!(self.out, "digraph \"{}\" {{", name.replace(['"', '\\'], "_"))?;
        writeln!(
            self.out,
            "  graph [rankdir=TB, nodesep=0.45, ranksep=0.5, pad=0.3, fontname=\"monospace\", labelloc=t];"
        )?;
        writeln!(self.out, "  node [shape=plain, fontname=\"monospace\", fontsize=10, fontcolor=\"{INK}\"];")?;
        writeln!(
            self.out,
            "  edge [fontname=\"monospace\", fontsize=9, color=\"{QUIET}\", fontcolor=\"{INK}\", arrowsize=0.7];"
        )?;
        self.title()?;
        self.blocks(None, 1)?;
        if !self.cfg.exit_preds.is_empty() {
            let (fill, line) = if self.rejoins[self.cfg.blocks.len()] { (REJOIN_FILL, REJOIN) } else { (HEAD, FRAME) };
            writeln!(
                self.out,
                "  {} [shape=box, style=\"rounded,filled\", fillcolor=\"{fill}\", color=\"{line}\", label=\"exit\", \
                 height=0.25, margin=\"0.15,0.04\"];",
                self.node(self.cfg.exit())
            )?;
        }
        let unreachable = self.cfg.iter().map(|(b, _)| b).filter(|b| !self.cfg.is_reachable(*b));
        let order: Vec<BlockId> = self.cfg.reverse_postorder().iter().copied().chain(unreachable).collect();
        for block in order {
            self.edges(block)?;
        }
        writeln!(self.out, "}}")
    }

    /// Name, figures and legend.
    fn title(&mut self) -> Written {
        let divergent = self.uniform.divergent().count();
        let kind = if self.function.is_entry { "kernel" } else { "function" };
        let mut facts = format!(
            "{}, {}, {}, {}",
            count(self.function.insts.len(), "instruction"),
            count(self.cfg.blocks.len(), "block"),
            count(self.loops.loops.len(), "loop"),
            count(divergent, "divergent branch").replace("branchs", "branches"),
        );
        if self.loops.irreducible {
            facts += ", irreducible";
        }
        let swatch = |fill: &str, line: &str, text: &str| {
            format!(
                "<TD BGCOLOR=\"{fill}\" BORDER=\"1\" COLOR=\"{line}\" WIDTH=\"18\"> </TD><TD ALIGN=\"LEFT\">{text}</TD>"
            )
        };
        let arrow = |color: &str, stroke: &str, text: &str| {
            format!("<TD><FONT COLOR=\"{color}\">{stroke}</FONT></TD><TD ALIGN=\"LEFT\">{text}</TD>")
        };
        writeln!(
            self.out,
            "  label=<<TABLE BORDER=\"0\" CELLSPACING=\"3\" CELLPADDING=\"2\">\
             <TR><TD COLSPAN=\"8\"><FONT POINT-SIZE=\"14\" COLOR=\"{INK}\">{kind} <B>{}</B></FONT></TD></TR>\
             <TR><TD COLSPAN=\"8\"><FONT POINT-SIZE=\"10\" COLOR=\"{QUIET}\">{facts}</FONT></TD></TR>\
             <TR>{}{}{}{}</TR></TABLE>>;\n  fontsize=10; fontcolor=\"{INK}\";",
            escape(&self.function.name),
            swatch(DIVERGE_FILL, DIVERGE, "threads may diverge"),
            swatch(REJOIN_FILL, REJOIN, "they reconverge"),
            arrow(REJOIN, "- - &gt;", "branch to reconvergence point"),
            arrow(QUIET, "<B>&#8634;</B>", "back edge of a loop"),
        )
    }

    fn node(&self, block: BlockId) -> String {
        if block == self.cfg.exit() { "exit".to_owned() } else { format!("b{}", block.0) }
    }

    /// The blocks whose innermost loop is `inside`, and frames for the loops in it.
    fn blocks(&mut self, inside: Option<LoopId>, depth: usize) -> Written {
        let pad = "  ".repeat(depth);
        let part = self.parts.remove(&inside).unwrap_or_default();
        for block in part.blocks {
            let table = self.table(block)?;
            writeln!(self.out, "{pad}b{} [label=<{table}>];", block.0)?;
        }
        for id in part.loops {
            writeln!(self.out, "{pad}subgraph cluster_loop{} {{", id.0)?;
            writeln!(
                self.out,
                "{pad}  label=<<FONT COLOR=\"{QUIET}\" POINT-SIZE=\"9\">loop at B{}</FONT>>; labeljust=l; style=\"rounded,filled\"; \
                 fillcolor=\"{LOOP_FILL}\"; color=\"{FRAME}\"; margin=14;",
                self.loops.get(id).head.0
            )?;
            // Loops nest as deep as the text does; a drawing that deep is of no use anyway.
            if depth < 60 {
                self.blocks(Some(id), depth + 1)?;
            }
            writeln!(self.out, "{pad}}}")?;
        }
        Ok(())
    }

    /// A block as an HTML-like table.
    fn table(&self, id: BlockId) -> Result<String, std::fmt::Error> {
        let block = self.cfg.block(id);
        let diverges = !self.uniform.is_uniform(block.last);
        let rejoins = self.rejoins[id.index()];
        let frame = if diverges {
            DIVERGE
        } else if rejoins {
            REJOIN
        } else {
            FRAME
        };
        let head = if rejoins { REJOIN_FILL } else { HEAD };
        let mut table = format!(
            "<TABLE BORDER=\"1\" COLOR=\"{frame}\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"3\" \
             BGCOLOR=\"{PAPER}\"><TR><TD BGCOLOR=\"{head}\" ALIGN=\"LEFT\"><B>B{}</B>",
            id.0
        );
        for label in &self.labels[id.index()] {
            // Viewers drop a space at the start of a text.
            write!(table, "<B>&#160;</B>{}", escape(label))?;
        }
        if !self.cfg.is_reachable(id) {
            table += " (unreachable)";
        }
        write!(
            table,
            "</TD><TD BGCOLOR=\"{head}\" ALIGN=\"RIGHT\"><FONT COLOR=\"{QUIET}\">{}</FONT></TD></TR>",
            self.range(block)
        )?;
        let rows: Vec<InstId> = block.insts().collect();
        let hidden = if rows.len() > SHOWN_IN_FULL { SHOWN_AT_ENDS..rows.len() - SHOWN_AT_ENDS } else { 0..0 };
        for (i, inst) in rows.iter().enumerate() {
            if i == hidden.start && !hidden.is_empty() {
                write!(
                    table,
                    "<TR><TD COLSPAN=\"2\" ALIGN=\"LEFT\"><FONT COLOR=\"{QUIET}\">&#8942; {} more</FONT></TD></TR>",
                    hidden.len()
                )?;
            }
            if hidden.contains(&i) {
                continue;
            }
            let fill =
                if diverges && *inst == block.last { format!(" BGCOLOR=\"{DIVERGE_FILL}\"") } else { String::new() };
            write!(table, "<TR><TD COLSPAN=\"2\" ALIGN=\"LEFT\"{fill}>{}</TD></TR>", escape(&self.text(*inst)))?;
        }
        Ok(table + "</TABLE>")
    }

    /// The lines of a block, as far as its instructions stand in the text.
    fn range(&self, block: &Block) -> String {
        let written = |id: &InstId| !self.is_implicit(*id);
        let line = |id: InstId| self.lines.line(self.function.insts[id.index()].span.start);
        let first = block.insts().find(written).map(line);
        let last = block.insts().rev().find(written).map(line);
        match (first, last) {
            (Some(first), Some(last)) if first == last => format!("line {first}"),
            (Some(first), Some(last)) => format!("lines {first}&#8211;{last}"),
            _ => "end".to_owned(),
        }
    }

    /// Whether it is the return that stands for the closing brace.
    fn is_implicit(&self, id: InstId) -> bool {
        let inst = &self.function.insts[id.index()];
        let is_last = id.index() + 1 == self.function.insts.len();
        is_last && inst.opcode == Opcode::Ret && !inst.span.text(self.source).contains("ret")
    }

    /// An instruction as written, without the white space.
    fn text(&self, id: InstId) -> String {
        let inst = &self.function.insts[id.index()];
        if self.is_implicit(id) {
            return "ret".to_owned();
        }
        let words: Vec<&str> = inst.span.text(self.source).split_whitespace().collect();
        let text = if words.is_empty() { inst.mnemonic() } else { words.join(" ") };
        let text = text.trim_end_matches(';').trim_end();
        if text.chars().count() > LINE_WIDTH {
            return text.chars().take(LINE_WIDTH - 1).chain(['…']).collect();
        }
        text.to_owned()
    }

    fn edges(&mut self, from: BlockId) -> Written {
        let last = self.cfg.block(from).last;
        let diverges = !self.uniform.is_uniform(last);
        let indices = self.indices(last);
        for to in self.cfg.succs(from).to_vec() {
            let color = if diverges { DIVERGE } else { QUIET };
            let label = self.condition(from, to, indices.get(&to).map_or("", String::as_str));
            // Graphviz puts heads of arrows below their tails; a loop's head belongs on top.
            let back = self.loops.is_back_edge(from, to);
            let (a, b, label, style) = match back {
                true => (to, from, format!("&#8634; {label}"), ", dir=back, penwidth=1.8"),
                false => (from, to, label, ""),
            };
            writeln!(
                self.out,
                "  {} -> {} [color=\"{color}\", fontcolor=\"{color}\", label=<{}>{style}];",
                self.node(a),
                self.node(b),
                if label.is_empty() { label } else { format!(" {} ", label.trim_end()) },
            )?;
        }
        if diverges {
            let to = self.post.ipdom(from).unwrap_or_else(|| self.cfg.exit());
            // Downwards the arrow gets a lane of its own; upwards it must not turn the order around.
            let down = to == self.cfg.exit() || self.place[from.index()] < self.place[to.index()];
            writeln!(
                self.out,
                "  {} -> {} [style=dashed, color=\"{REJOIN}\", arrowhead=empty, {}];",
                self.node(from),
                self.node(to),
                if down { "weight=0" } else { "constraint=false" },
            )?;
        }
        Ok(())
    }

    /// When control takes the edge: `taken %p1`, with the indices of a branch table.
    fn condition(&self, from: BlockId, to: BlockId, indices: &str) -> String {
        let block = self.cfg.block(from);
        let inst = &self.function.insts[block.last.index()];
        let next = BlockId(from.0 + 1);
        let Some(guard) = inst.guard.filter(|_| inst.ends_block()) else {
            return indices.to_owned();
        };
        let name = self.function.regs.get(guard.reg.index()).map_or("?", |r| r.name.as_str());
        let when = |truth: bool| format!("{}{}", if truth { "" } else { "!" }, escape(name));
        if block.succs.len() == 1 {
            return "both ways".to_owned();
        }
        if to == next && block.succs.last() == Some(&next) {
            return format!("falls through {}", when(guard.negated));
        }
        format!("taken {} {indices}", when(!guard.negated)).trim_end().to_owned()
    }

    /// Which entries of the table of a branch lead to which block.
    fn indices(&self, branch: InstId) -> HashMap<BlockId, String> {
        let mut lists: HashMap<BlockId, Vec<String>> = HashMap::new();
        let operand = self.function.insts[branch.index()].operands.last();
        let Some(Operand::Table(table)) = operand else { return HashMap::new() };
        let targets = self.function.tables.get(table.index()).map_or(&[][..], |t| &t.targets);
        for (i, label) in targets.iter().enumerate() {
            let Some(label) = self.function.labels.get(label.index()) else { continue };
            let list = lists.entry(self.cfg.block_of(label.at)).or_default();
            if list.len() < 8 {
                list.push(i.to_string());
            }
        }
        lists.into_iter().map(|(block, list)| (block, format!("[{}]", list.join(", ")))).collect()
    }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{module, reference_kernels};
    use super::*;

    const HEAD: &str = ".version 6.3\n.target sm_70\n.address_size 64\n";

    fn draw(text: &str) -> String {
        let text = format!("{HEAD}{text}");
        let module = module(&text);
        dot(&module, &module.functions[0], &text)
    }

    #[test]
    fn a_divergent_branch_and_its_reconvergence_point_are_marked() {
        let text = ".entry k() { .reg .u32 %r; .reg .pred %p;\nmov.u32 %r, %tid.x;\nsetp.eq.u32 %p, %r, 0;\n@%p bra L;\n\
                    bar.sync 0;\nL: ret;\n}";
        let drawing = draw(text);
        assert!(drawing.contains(&format!("BGCOLOR=\"{DIVERGE_FILL}\">@%p bra L</TD>")), "{drawing}");
        assert!(drawing.contains("label=< taken %p >") && drawing.contains("label=< falls through !%p >"), "{drawing}");
        assert!(drawing.contains("b0 -> b2 [style=dashed"), "{drawing}");
        assert!(
            drawing.contains(&format!("<TD BGCOLOR=\"{REJOIN_FILL}\" ALIGN=\"LEFT\"><B>B2</B><B>&#160;</B>L</TD>")),
            "{drawing}"
        );
        assert!(drawing.contains("lines 5&#8211;7"), "{drawing}");
    }

    #[test]
    fn long_blocks_show_their_ends() {
        let body = (0..20).map(|i| format!("mov.u32 %r, {i};\n")).collect::<String>();
        let drawing = draw(&format!(".entry k() {{ .reg .u32 %r;\n{body}}}"));
        assert!(drawing.contains("&#8942; 13 more"), "{drawing}");
        assert!(drawing.contains("mov.u32 %r, 3<") && !drawing.contains("mov.u32 %r, 4<"), "{drawing}");
    }

    #[test]
    fn tables_loops_and_odd_names_are_drawn() {
        let drawing = draw(
            ".func k() { .reg .u32 %r; .reg .pred %p;\nL: T: .branchtargets L, M, L;\nbrx.idx.uni %r, T;\nM: @%p bra L; \n}",
        );
        assert!(drawing.contains("&#8634; [0, 2]") && drawing.contains("label=< [1] >"), "{drawing}");
        assert!(drawing.contains("loop at B0"), "{drawing}");
    }

    #[test]
    fn every_reference_kernel_is_drawn_with_balanced_braces() {
        for (name, text) in reference_kernels() {
            let module = module(&text);
            let (_, function) = module.kernels().next().expect("a kernel");
            let drawing = dot(&module, function, &text);
            let braces = |c| drawing.matches(c).count();
            assert_eq!(braces('{'), braces('}'), "{name}");
        }
    }

    #[test]
    fn a_broken_module_is_drawn_too() {
        let text = format!("{HEAD}.entry k() {{ @%q bra Nowhere; add.u32 %a, <; L: bra L }}");
        let (module, _) = crate::load(&text);
        for function in &module.functions {
            assert!(dot(&module, function, &text).starts_with("digraph"));
        }
    }
}
