use super::*;
use crate::agreement::Rule;
use crate::drawing::{Mark, Shape, Turn};
use crate::table::{Gap, Over, TableRow};

fn cell(value: f64, paper: Option<f64>, over: Option<Over>) -> Result<Cell, Gap> {
    let other = Cell { value: value + 0.05, ..Cell::default() };
    let why = if paper.is_some() { "fewer warps".to_owned() } else { String::new() };
    let reading = paper.map(|_| Ok(Box::new(other)));
    Ok(Cell { value, low: value - 0.01, high: value + 0.01, paper, why, reading, over, ..Cell::default() })
}

pub(crate) fn table() -> Table {
    let one = || Ok(Cell { value: 1.0, low: 1.0, high: 1.0, ..Cell::default() });
    let row = |name: &str, is_mean, cells| TableRow { name: name.to_owned(), is_mean, cells };
    Table {
        name: "speedup".to_owned(),
        title: "Speedup <of all>".to_owned(),
        kind: Kind::Bars,
        about: "speedup".to_owned(),
        source: String::new(),
        bars: vec!["lrr".to_owned(), "gto".to_owned()],
        parts: Vec::new(),
        baseline: Some(0),
        has_geometric_means: true,
        neutral: Some(1.0),
        is_count: false,
        rules: [Rule::Gain(1.0), Rule::Share],
        reading: "deeper pipeline".to_owned(),
        axis: "times as fast".to_owned(),
        x_axis: String::new(),
        whiskers: "whiskers: least and most of 2 runs".to_owned(),
        rows: vec![
            row("bfs", false, vec![one(), cell(1.25, Some(1.4), None)]),
            row("spmv", false, vec![one(), Err(Gap::Refused)]),
            row("mean, all", true, vec![one(), cell(1.005, None, Some(Over { rows: 1, of: 2, lacking: 0 }))]),
        ],
    }
}

/// The same with bars of two parts.
pub(crate) fn stacked() -> Table {
    let mut table = Table { kind: Kind::Stacked, parts: vec!["issued".to_owned(), "empty".to_owned()], ..table() };
    for cell in table.rows.iter_mut().flat_map(|row| row.cells.iter_mut().flatten()) {
        let over = cell.over;
        let part = |value, paper| Cell { value, low: value, high: value, paper, over, ..Cell::default() };
        cell.parts = vec![part(0.25, Some(0.5)), part(cell.value - 0.25, None)];
    }
    table
}

fn rects(drawing: &Drawing) -> Vec<([f64; 4], bool, &str)> {
    let rect = |shape| match shape {
        &Shape::Rect { place, is_pale, ref hover, .. } if !hover.is_empty() => Some((place, is_pale, hover.as_str())),
        _ => None,
    };
    drawing.shapes.iter().filter_map(rect).collect()
}

fn has_text(drawing: &Drawing, wanted: &str) -> bool {
    drawing.shapes.iter().any(|shape| matches!(shape, Shape::Text(text) if text.text == wanted))
}

#[test]
fn bars_start_at_the_baseline() {
    let drawing = draw(&table(), Layout::PAGE);
    let rects = rects(&drawing);
    assert_eq!(rects.len(), 2, "bars that are 1 by definition are not drawn");
    assert_eq!(rects[0].2, "bfs, gto: 1.250 (1.240 to 1.260); paper 1.400: partly; deeper pipeline: 1.300");
    assert!(rects[1].2.ends_with("not distinguishable from noise") && rects[1].1, "{}", rects[1].2);
    assert!((rects[0].0[3] / rects[1].0[3] - 50.0).abs() < 1.0, "as long as the effect is large");
    assert!(has_text(&drawing, "baseline lrr") && has_text(&drawing, "paper") && has_text(&drawing, "×"));
    assert!(has_text(&drawing, "our other reading: deeper pipeline") && has_text(&drawing, "times as fast"));
    let marks =
        |wanted| drawing.shapes.iter().filter(|s| matches!(s, Shape::Mark { mark, .. } if *mark == wanted)).count();
    assert_eq!((marks(Mark::Paper), marks(Mark::Reading)), (2, 2), "one of each in the legend");
    assert!(has_text(&drawing, "mean") && has_text(&drawing, "all"), "a name in two lines");
    assert!(!has_text(&drawing, "Speedup <of all>") && has_text(&draw(&table(), Layout::FILE), "Speedup <of all>"));
}

#[test]
fn means_that_stand_alone_have_wide_bars_and_their_own_scale() {
    let (plain, own) = (draw(&table(), Layout::FILE), draw(&table(), Layout::OPENINGS[0]));
    let ([of_row, of_mean], [row, mean]) = (
        [0, 1].map(|n| rects(&plain)[n].0),
        // The mean comes first.
        [1, 0].map(|n| rects(&own)[n].0),
    );
    assert!(mean[2] > 2.0 * of_mean[2] && row[2] == of_row[2], "{mean:?} {row:?}");
    assert!(mean[1] < row[1] && row[1] + row[3] < own.height);
    assert!(mean[3] > 10.0 * of_mean[3], "a scale of its own");
    let mut many = table();
    let workload = many.rows[0].clone();
    assert_eq!(opening(&many).rows.len(), 3);
    many.rows.extend((0..90).map(|_| workload.clone()));
    assert_eq!(opening(&many).rows.len(), 1, "means alone where there is no room");
}

#[test]
fn parts_are_on_top_of_each_other() {
    let drawing = draw(&stacked(), Layout::PAGE);
    let rects = rects(&drawing);
    assert_eq!(rects.len(), 2 * 5);
    assert_eq!(rects[2].2, "bfs, gto, issued: 0.250 of 1.250; paper 0.500");
    let ([_, low, _, height], [_, high, _, of_second]) = (rects[2].0, rects[3].0);
    assert!((high + of_second - low).abs() < 1e-9 && (of_second / height - 4.0).abs() < 1e-9);
    assert!(has_text(&drawing, "issued") && has_text(&drawing, "gto"), "both are named");
}

#[test]
fn what_does_not_fit_goes_to_the_next_panel() {
    let mut table = table();
    let row = table.rows[0].clone();
    table.rows = (0..40).map(|n| TableRow { name: format!("workload-{n}"), ..row.clone() }).collect();
    for layout in [Layout::FILE, Layout::PHONE] {
        let drawing = draw(&table, layout);
        assert!(drawing.width <= layout.width && drawing.height > 2.0 * layout.height);
        let bars = rects(&drawing);
        assert_eq!(bars.len(), 40);
        let is_inside = |[x, y, w, h]: [f64; 4]| x > 0.0 && x + w < drawing.width && y > 0.0 && y + h < drawing.height;
        assert!(bars.iter().all(|(place, ..)| is_inside(*place)));
    }
}

#[test]
fn scales_are_round() {
    let is = |table: &Table, bottom: f64, top: f64, of_step: f64| {
        let (low, high, step) = scale(table);
        (low - bottom).abs() < 1e-9 && (high - top).abs() < 1e-9 && (step - of_step).abs() < 1e-9
    };
    assert!(is(&table(), 0.9, 1.4, 0.1), "the least is below 1: {:?}", scale(&table()));
    assert!(is(&stacked(), 0.0, 1.5, 0.5), "{:?}", scale(&stacked()));
    assert_eq!((tick(0.25, 0.25), tick(0.5, 0.5), tick(200.0, 100.0)), ("0.25".into(), "0.5".into(), "200".into()));
    let numbers = [0.12345, 12.345, 123.45, 12345.6, 1.5e7].map(number);
    assert_eq!(numbers, ["0.123", "12.35", "123.5", "12346", "1.500e7"]);
    assert_eq!([0.0, 0.0123, 0.000_34, 0.000_004].map(small), ["0.000", "0.012", "0.0003", "0.0000"]);
}

/// The texts of a drawing, each with its place and how it is turned.
fn texts(drawing: &Drawing) -> Vec<(&str, f64, Turn)> {
    let texts = drawing.shapes.iter().filter_map(|shape| match shape {
        Shape::Text(text) => Some((text.text.as_str(), text.x, text.turn)),
        _ => None,
    });
    texts.collect()
}

#[test]
fn axes_have_titles() {
    let long =
        "speed against a reconvergence stack for each warp: more is better, and more words than there is room for";
    let table = Table { axis: long.to_owned(), x_axis: "sets".to_owned(), ..table() };
    let drawing = draw(&table, Layout::PHONE);
    let up: Vec<&str> =
        texts(&drawing).into_iter().filter(|(.., turn)| *turn == Turn::Up).map(|(text, ..)| text).collect();
    assert!(up.len() == 3 && up[2].ends_with('…') && long.starts_with(up[0]), "{up:?}");
    assert!(has_text(&drawing, "sets"));
    assert!(texts(&drawing).iter().all(|(_, x, _)| (0.0..drawing.width).contains(x)));
}

#[test]
fn a_legend_wraps_and_does_not_set_the_width() {
    let few = draw(&table(), Layout::FILE);
    let reading = "a pipeline of twenty stages, a network of eight bytes in each cycle, and caches without sectors";
    let many = draw(&Table { reading: reading.to_owned(), ..table() }, Layout::FILE);
    assert_eq!(few.width, many.width);
    assert!(many.height > few.height && has_text(&few, "whiskers: least and most of 2 runs"));
    let font = crate::font::Font::new(false);
    assert!(texts(&many).iter().filter(|(.., turn)| *turn == Turn::Flat).all(|(text, x, _)| {
        let is_left = *x < 60.0 || text.len() < 12 || x + font.width(text, 12.0) <= many.width;
        is_left && *x >= 0.0
    }));
}

/// A chart of each kind that has no bars.
pub(crate) fn of_kind(kind: Kind) -> Table {
    let bars = ["lrr", "gto", "two-level", "pro"].map(str::to_owned).to_vec();
    let row = |(n, name): (usize, &&str)| {
        let cell = |bar: usize| {
            let value = 1.0 + 0.1 * bar as f64 + 0.07 * n as f64;
            let samples =
                if kind == Kind::Box { (0..9).map(|i| value + 0.02 * f64::from(i * i)).collect() } else { Vec::new() };
            let error = (kind != Kind::Box).then_some([value - 0.04, value + 0.04]);
            Ok(Cell { value, low: value, high: value, x: Some(value * value), samples, error, ..Cell::default() })
        };
        TableRow { name: (*name).to_owned(), is_mean: false, cells: (0..4).map(cell).collect() }
    };
    let rows = ["16", "32", "64", "128", "256"].iter().enumerate().map(row).collect();
    Table { kind, bars, rows, baseline: None, neutral: None, x_axis: "sets of the data cache".to_owned(), ..table() }
}

#[test]
fn lines_points_and_boxes_have_their_shapes() {
    let areas = |drawing: &Drawing| drawing.shapes.iter().filter(|shape| matches!(shape, Shape::Area { .. })).count();
    for layout in [Layout::FILE, Layout::PHONE, Layout::print("ieee".parse().unwrap())] {
        let [line, scatter, boxes] = [Kind::Line, Kind::Scatter, Kind::Box].map(|kind| draw(&of_kind(kind), layout));
        assert_eq!(areas(&line), 4 + 4 * 5 + 4 * 4, "points in the legend, points, lines between them");
        assert_eq!(areas(&scatter), 4 + 4 * 5);
        assert_eq!((areas(&boxes), rects(&boxes).len()), (0, 4 * 5));
        assert!(rects(&boxes)[0].2.ends_with("; median 1.320"), "{}", rects(&boxes)[0].2);
        for drawing in [line, scatter, boxes] {
            assert!(has_text(&drawing, "sets of the data cache"));
            let is_inside = |[x, y]: &[f64; 2]| (0.0..=drawing.width).contains(x) && (0.0..=drawing.height).contains(y);
            assert!(drawing.shapes.iter().all(|shape| match shape {
                Shape::Area { corners, .. } => corners.iter().all(is_inside),
                Shape::Line { from, to, .. } => is_inside(from) && is_inside(to),
                Shape::Text(text) => is_inside(&[text.x, text.y]),
                _ => true,
            }));
        }
    }
}

#[test]
fn kinds_keep_the_rows_they_can_draw() {
    let rows = |kind| with_drawn_rows(&Table { kind, ..table() }).rows.len();
    assert_eq!([Kind::Bars, Kind::Line, Kind::Scatter, Kind::Box].map(rows), [3, 3, 2, 0]);
}
