//! Tables of a story, with the state of tracked rows.

use super::error::WordResult;
use super::model::{StoryCell, StoryRow, StoryTable};
use super::story::StoryReader;
use super::xml::Element;

impl StoryReader<'_, '_, '_> {
    /// Reads an element `w:tbl`.
    pub fn table(&mut self) -> WordResult<StoryTable> {
        let mut table = StoryTable::default();
        self.rows(&mut table)?;
        Ok(table)
    }

    /// Reads rows, which controls and tracked changes may enclose.
    fn rows(&mut self, table: &mut StoryTable) -> WordResult<()> {
        while let Some(child) = self.xml.next_element()? {
            match child.name.as_str() {
                "w:tblPr" => table.has_heading = self.table_properties()?,
                "w:tr" => {
                    let row = self.row()?;
                    table.rows.push(row);
                }
                "w:ins" | "w:del" | "w:moveFrom" | "w:moveTo" => {
                    self.within_change(&child, |reader| reader.rows(table))?;
                }
                _ if self.is_without_words(&child)? => {}
                _ => self.rows(table)?,
            }
        }
        Ok(())
    }

    /// Reads `w:tblPr`. Returns whether the style of the table sets the first row apart.
    fn table_properties(&mut self) -> WordResult<bool> {
        let mut has_heading = false;
        while let Some(property) = self.xml.next_element()? {
            match property.name.as_str() {
                "w:tblLook" => has_heading = sets_first_row_apart(&property),
                "w:tblPrChange" => {
                    self.findings.report.decide("tracked change of formatting");
                }
                _ => {}
            }
            self.xml.skip()?;
        }
        Ok(has_heading)
    }

    fn row(&mut self) -> WordResult<StoryRow> {
        let mut row = StoryRow { tracked: self.tracked, ..StoryRow::default() };
        let around = self.tracked;
        self.cells(&mut row)?;
        self.tracked = around;
        Ok(row)
    }

    /// Reads cells, which controls may enclose.
    fn cells(&mut self, row: &mut StoryRow) -> WordResult<()> {
        while let Some(child) = self.xml.next_element()? {
            match child.name.as_str() {
                "w:trPr" => self.row_properties(row)?,
                "w:tc" => {
                    let cell = self.cell()?;
                    row.cells.push(cell);
                }
                _ if self.is_without_words(&child)? => {}
                _ => self.cells(row)?,
            }
        }
        Ok(())
    }

    fn row_properties(&mut self, row: &mut StoryRow) -> WordResult<()> {
        while let Some(property) = self.xml.next_element()? {
            match property.name.as_str() {
                "w:tblHeader" => row.is_heading = property.is_on(),
                "w:gridBefore" => row.skipped = property.number("val").unwrap_or_default(),
                "w:ins" | "w:del" => {
                    // Words of the row belong to the change of the row.
                    self.tracked = self.change(&property).within(self.tracked);
                    row.tracked = self.tracked;
                }
                "w:trPrChange" => {
                    self.findings.report.decide("tracked change of formatting");
                }
                _ => {}
            }
            self.xml.skip()?;
        }
        Ok(())
    }

    fn cell(&mut self) -> WordResult<StoryCell> {
        let mut cell = StoryCell { span: 1, ..StoryCell::default() };
        while let Some(child) = self.xml.next_element()? {
            if child.name != "w:tcPr" {
                self.block(&child, &mut cell.blocks)?;
                continue;
            }
            while let Some(property) = self.xml.next_element()? {
                match property.name.as_str() {
                    "w:gridSpan" => {
                        cell.span =
                            property.number::<usize>("val").unwrap_or(1).clamp(1, MOST_COLUMNS);
                    }
                    "w:vMerge" => {
                        cell.begins_tall = property.value().is_some_and(|it| it == "restart");
                        cell.goes_on = !cell.begins_tall;
                    }
                    "w:cellIns" | "w:cellDel" | "w:cellMerge" | "w:tcPrChange" => {
                        self.findings.report.decide("tracked change of formatting");
                    }
                    _ => {}
                }
                self.xml.skip()?;
            }
        }
        Ok(cell)
    }
}

/// Largest number of columns that Word has.
pub(super) const MOST_COLUMNS: usize = 63;

/// Returns whether the first row is set apart. Old files say it as a sum of bits.
fn sets_first_row_apart(look: &Element) -> bool {
    match look.attribute("firstRow") {
        Some(state) => matches!(state.as_str(), "1" | "true" | "on"),
        None => look
            .value()
            .and_then(|bits| u32::from_str_radix(&bits, 16).ok())
            .is_some_and(|bits| bits & 0x20 != 0),
    }
}
