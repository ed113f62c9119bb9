//! Rows of cells as text for a terminal: a line a row, or a block a row where lines do not fit.

use crate::Style;
use crate::text::{Colour, NONE, paint, width, wrap};

/// Spaces between columns, and before what stands below something.
const GAP: usize = 2;

pub(crate) struct Head {
    pub(crate) name: String,
    /// Numbers align to the right.
    pub(crate) right: bool,
}

/// One row; the colour is that of its last cell.
pub(crate) struct Line {
    pub(crate) cells: Vec<String>,
    pub(crate) colour: Option<Colour>,
}

/// Columns and rows, as many cells in each row as there are columns.
pub(crate) struct Grid {
    pub(crate) heads: Vec<Head>,
    pub(crate) lines: Vec<Line>,
}

/// How lines are laid out.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// The first column stands above the rows that share its cell.
    pub(crate) first_above: bool,
    pub(crate) overflow: Option<Overflow>,
}

/// A column whose wide cells stand below their row.
#[derive(Clone, Copy)]
pub(crate) struct Overflow {
    pub(crate) column: usize,
    /// Widest cell that stands in its row; with 0 the column is left out.
    pub(crate) most: usize,
}

impl Shape {
    fn indent(self) -> usize {
        if self.first_above { GAP } else { 0 }
    }

    fn is_below(self, column: usize, cell: &str) -> bool {
        self.overflow.is_some_and(|overflow| overflow.column == column && width(cell) > overflow.most)
    }
}

impl Grid {
    /// Columns of the terminal that come before the last cell of a line.
    pub(crate) fn before_last(&self, shape: Shape) -> usize {
        let widths = self.widths(shape);
        self.within(shape).map(|column| widths[column] + GAP).sum::<usize>() + shape.indent()
    }

    /// Widest text of the last column.
    pub(crate) fn last(&self) -> usize {
        let cells = self.lines.iter().filter_map(|line| line.cells.last());
        cells.chain(self.heads.last().map(|head| &head.name)).map(|cell| width(cell)).max().unwrap_or(0)
    }

    fn widths(&self, shape: Shape) -> Vec<usize> {
        let widest = |column: usize| {
            let cells = self.lines.iter().map(|line| &line.cells[column]);
            cells.filter(|cell| !shape.is_below(column, cell)).map(|cell| width(cell)).max()
        };
        let heads = self.heads.iter().map(|head| width(&head.name)).enumerate();
        heads.map(|(column, head)| head.max(widest(column).unwrap_or(0))).collect()
    }

    /// The columns of a line, but for the last.
    fn within(&self, shape: Shape) -> impl Iterator<Item = usize> {
        let left_out = shape.overflow.filter(|overflow| overflow.most == 0).map(|overflow| overflow.column);
        let last = self.heads.len().saturating_sub(1);
        (usize::from(shape.first_above)..last).filter(move |column| left_out != Some(*column))
    }

    /// A line a row, below a line of headers.
    pub(crate) fn lines(&self, shape: Shape, style: Style) -> String {
        let widths = self.widths(shape);
        let heads = Line { cells: self.heads.iter().map(|head| head.name.clone()).collect(), colour: None };
        let (start, last) = self.line(&heads, shape, &widths);
        let mut text = paint(&(start + last), Colour::Bold, style.colour) + "\n";
        let indent = " ".repeat(shape.indent() + GAP);
        let mut above = None;
        for row in &self.lines {
            if shape.first_above && above != Some(&row.cells[0]) {
                text += &wrap(&row.cells[0], style.width, "", "");
                above = Some(&row.cells[0]);
            }
            let (start, last) = self.line(row, shape, &widths);
            text += &(start + &coloured(last, row.colour, style) + "\n");
            for (column, cell) in row.cells.iter().enumerate() {
                if shape.is_below(column, cell) && cell != NONE {
                    text += &wrap(cell, style.width, &indent, &indent);
                }
            }
        }
        text
    }

    /// A row's cells but for the last, aligned, and the last.
    fn line<'row>(&self, row: &'row Line, shape: Shape, widths: &[usize]) -> (String, &'row str) {
        let mut start = " ".repeat(shape.indent());
        for column in self.within(shape) {
            let cell = &row.cells[column];
            let cell = if shape.is_below(column, cell) { "…" } else { cell };
            let padding = " ".repeat(widths[column] - width(cell));
            let (before, after) = if self.heads[column].right { (&*padding, "") } else { ("", &*padding) };
            start += &format!("{before}{cell}{after}{}", " ".repeat(GAP));
        }
        (start, row.cells.last().map_or("", String::as_str))
    }

    /// The first cell, the second below it, then what the other columns would say.
    pub(crate) fn blocks(&self, style: Style) -> String {
        let mut text = String::new();
        let last = self.heads.len() - 1;
        for row in &self.lines {
            text += &wrap(&row.cells[0], style.width, "", "");
            text += &wrap(&row.cells[1], style.width, "  ", "  ");
            let facts = (2..last).map(|column| fact(&self.heads[column].name, &row.cells[column], style));
            text += &unbound(&wrap(&facts.collect::<Vec<_>>().join(", "), style.width, "  ", "  "));
            for line in wrap(&row.cells[last], style.width, "  ", "    ").lines() {
                text += &(coloured(line, row.colour, style) + "\n");
            }
        }
        text
    }
}

/// A header with its cell, bound so that a number stays beside its unit; where that is too wide for a
/// line, its parts are.
fn fact(head: &str, cell: &str, style: Style) -> String {
    let bound = |text: &str| text.replace(' ', "\u{a0}");
    let parts = |cell: &str| cell.split(", ").map(bound).collect::<Vec<_>>().join(", ");
    let whole = format!("{head} {}", cell.split(", ").next().unwrap_or(cell));
    if style.width.is_none_or(|most| width(&whole) + 2 * GAP <= usize::from(most)) {
        parts(&format!("{head} {cell}"))
    } else {
        format!("{} {}", bound(head), parts(cell))
    }
}

fn unbound(text: &str) -> String {
    text.replace('\u{a0}', " ")
}

fn coloured(text: &str, colour: Option<Colour>, style: Style) -> String {
    colour.map_or(text.to_owned(), |colour| paint(text, colour, style.colour))
}
