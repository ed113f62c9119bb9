//! Rows of cells as text for a terminal: a line a row, or a block a row where lines do not fit.

use crate::Style;
use crate::text::{Colour, paint, shorten, shorten_name, spelled, width, wrap};

/// Spaces between columns, and before what stands below something.
const GAP: usize = 2;
/// Narrowest column of names, and narrowest column at all, when columns are cut.
const LEAST_NAME: usize = 12;
const LEAST: usize = 3;

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
    heads: Vec<Head>,
    lines: Vec<Line>,
    style: Style,
}

/// Where the first column stands.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum First {
    /// In its row.
    Inside,
    /// Above the rows that share its cell.
    Above,
}

impl First {
    fn indent(self) -> usize {
        if self == First::Above { GAP } else { 0 }
    }
}

impl Grid {
    /// Columns and rows, spelled as the style has it.
    pub(crate) fn new(heads: Vec<Head>, lines: Vec<Line>, style: Style) -> Grid {
        let mut grid = Grid { heads, lines, style };
        let heads = grid.heads.iter_mut().map(|head| &mut head.name);
        for text in heads.chain(grid.lines.iter_mut().flat_map(|line| &mut line.cells)) {
            *text = spelled(text, style);
        }
        grid
    }

    /// Columns of the terminal that come before the last cell of a line.
    pub(crate) fn before_last(&self, first: First) -> usize {
        let widths = self.widths();
        self.within(first).map(|column| widths[column] + GAP).sum::<usize>() + first.indent()
    }

    /// Whether every line fits.
    pub(crate) fn fits(&self, first: First) -> bool {
        let most = self.style.width.map_or(usize::MAX, usize::from);
        self.before_last(first) + self.last() <= most
    }

    /// Widest text of the last column.
    pub(crate) fn last(&self) -> usize {
        self.widths().last().copied().unwrap_or(0)
    }

    /// Puts other text in the last cells, a row after the other.
    pub(crate) fn replace_last(&mut self, cells: impl Iterator<Item = String>) {
        for (line, cell) in self.lines.iter_mut().zip(cells) {
            line.cells.pop();
            line.cells.push(spelled(&cell, self.style));
        }
    }

    /// Puts the last header before each last cell: a block has no headers.
    fn head_last(&mut self) {
        let Some(head) = self.heads.last().map(|head| head.name.clone()) else { return };
        for cell in self.lines.iter_mut().filter_map(|line| line.cells.last_mut()) {
            *cell = format!("{head} {cell}");
        }
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |column: usize| self.lines.iter().map(|line| width(&line.cells[column])).max();
        let heads = self.heads.iter().map(|head| width(&head.name)).enumerate();
        heads.map(|(column, head)| head.max(widest(column).unwrap_or(0))).collect()
    }

    /// The columns of a line, but for the last.
    fn within(&self, first: First) -> impl Iterator<Item = usize> + use<> {
        usize::from(first == First::Above)..self.heads.len().saturating_sub(1)
    }

    /// Cuts the names of one column, below their rows' first one, so that lines fit; answers whether they do now.
    pub(crate) fn shorten_names(&mut self, column: usize) -> bool {
        let most = self.style.width.map_or(usize::MAX, usize::from);
        let all = self.before_last(First::Above) + self.last();
        let own = self.widths()[column];
        let room = own.saturating_sub(all.saturating_sub(most));
        self.cut(column, room.max(LEAST_NAME.min(own)));
        self.fits(First::Above)
    }

    /// Cuts the widest columns until lines fit: what a damaged record says may be as wide as it likes.
    pub(crate) fn squeeze(&mut self) {
        let most = self.style.width.map_or(usize::MAX, usize::from);
        let mut widths = self.widths();
        let gaps = GAP * (widths.len().saturating_sub(2)) + First::Above.indent();
        while widths[1..].iter().sum::<usize>() + gaps > most {
            let Some(widest) = widths[1..].iter_mut().max().filter(|widest| **widest > LEAST) else { break };
            *widest -= 1;
        }
        for (column, most) in widths.into_iter().enumerate().skip(1) {
            self.cut(column, most);
        }
    }

    fn cut(&mut self, column: usize, most: usize) {
        let style = self.style;
        let head = &mut self.heads[column];
        head.name = spelled(&shorten(&head.name, most), style);
        for line in &mut self.lines {
            let cell = &mut line.cells[column];
            let is_name = cell.contains('/');
            let short = if is_name { shorten_name(cell, most) } else { shorten(cell, most) };
            *cell = spelled(&short, style);
        }
    }

    /// A line a row, below a line of headers.
    pub(crate) fn lines(&self, first: First) -> String {
        let style = self.style;
        let widths = self.widths();
        let heads = Line { cells: self.heads.iter().map(|head| head.name.clone()).collect(), colour: None };
        let (start, last) = self.line(&heads, first, &widths);
        let mut text = paint(&(start + last), Colour::Bold, style.colour) + "\n";
        let mut above = None;
        for row in &self.lines {
            if first == First::Above && above != Some(&row.cells[0]) {
                text += &wrap(&row.cells[0], style, "", "");
                above = Some(&row.cells[0]);
            }
            let (start, last) = self.line(row, first, &widths);
            text += &(start + &coloured(last, row.colour, style) + "\n");
        }
        text
    }

    /// A row's cells but for the last, aligned, and the last.
    fn line<'row>(&self, row: &'row Line, first: First, widths: &[usize]) -> (String, &'row str) {
        let mut start = " ".repeat(first.indent());
        for column in self.within(first) {
            let cell = &row.cells[column];
            let padding = " ".repeat(widths[column] - width(cell));
            let (before, after) = if self.heads[column].right { (&*padding, "") } else { ("", &*padding) };
            start += &format!("{before}{cell}{after}{}", " ".repeat(GAP));
        }
        (start, row.cells.last().map_or("", String::as_str))
    }

    /// Lines in the first of these ways that fits, or else blocks, whose last cell has its header.
    pub(crate) fn lines_or_blocks(mut self, ways: &[First]) -> String {
        match ways.iter().copied().find(|first| self.fits(*first)) {
            Some(first) => self.lines(first),
            None => {
                self.head_last();
                self.blocks()
            }
        }
    }

    /// The first cell, the second below it, then what the other columns would say.
    pub(crate) fn blocks(&self) -> String {
        let style = self.style;
        let mut text = String::new();
        let last = self.heads.len() - 1;
        for row in &self.lines {
            text += &wrap(&row.cells[0], style, "", "");
            text += &wrap(&row.cells[1], style, "  ", "  ");
            let said = (2..last).filter(|column| !row.cells[*column].is_empty());
            let facts = said.map(|column| fact(&self.heads[column].name, &row.cells[column], style));
            // Already spelled, and bound by what is no space of ASCII.
            let bound = Style { ascii: false, ..style };
            text += &unbound(&wrap(&facts.collect::<Vec<_>>().join(", "), bound, "  ", "  "));
            for line in wrap(&row.cells[last], style, "  ", "    ").lines() {
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
