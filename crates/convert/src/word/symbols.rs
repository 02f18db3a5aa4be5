//! Characters of the fonts Symbol and Wingdings, whose codes say nothing without the font.

/// Characters of the font Symbol from 0x20 on; a blank stands for a code without one.
const SYMBOL: &str = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧ∆ΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
/// The same from 0xA0 on.
const SYMBOL_HIGH: &str = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭";
/// Characters of Wingdings that people use in texts.
const WINGDINGS: &[(u32, char)] = &[
    (0x22, '✂'),
    (0x28, '☎'),
    (0x2a, '✉'),
    (0x3f, '✍'),
    (0x41, '✌'),
    (0x43, '👍'),
    (0x44, '👎'),
    (0x45, '☜'),
    (0x46, '☞'),
    (0x47, '☝'),
    (0x48, '☟'),
    (0x4a, '☺'),
    (0x4b, '😐'),
    (0x4c, '☹'),
    (0x4e, '☠'),
    (0x51, '✈'),
    (0x52, '☼'),
    (0x54, '❄'),
    (0x58, '✠'),
    (0x59, '✡'),
    (0x6c, '●'),
    (0x6d, '❍'),
    (0x6e, '■'),
    (0x6f, '□'),
    (0x71, '❑'),
    (0x72, '❒'),
    (0x75, '◆'),
    (0x76, '❖'),
    (0x9e, '·'),
    (0x9f, '•'),
    (0xa7, '▪'),
    (0xa8, '☐'),
    (0xab, '★'),
    (0xd8, '➢'),
    (0xdf, '←'),
    (0xe0, '→'),
    (0xe1, '↑'),
    (0xe2, '↓'),
    (0xe8, '➔'),
    (0xef, '⇦'),
    (0xf0, '⇨'),
    (0xfb, '✗'),
    (0xfc, '✓'),
    (0xfd, '☒'),
    (0xfe, '☑'),
];

/// Returns the character of a code in a font; nothing if it is not known.
pub(super) fn character(font: &str, code: u32) -> Option<char> {
    // Fonts of symbols have their characters in the private area, too.
    let code = if (0xf000..=0xf0ff).contains(&code) { code - 0xf000 } else { code };
    let font = font.to_lowercase();
    if font == "symbol" {
        return symbol(code);
    }
    if font.starts_with("wingdings") || font == "webdings" {
        let known = WINGDINGS.iter().find(|(known, _)| *known == code && font == "wingdings");
        return known.map(|(_, c)| *c);
    }
    char::from_u32(code).filter(|c| !c.is_control() && !is_private(*c))
}

/// Returns the character that a private one stands for in the font Symbol, the usual font of them.
pub(super) fn private(c: char) -> Option<char> {
    let code = u32::from(c);
    (0xf020..=0xf0ff).contains(&code).then(|| symbol(code - 0xf000)).flatten()
}

fn symbol(code: u32) -> Option<char> {
    let (table, first) = if code < 0xa0 { (SYMBOL, 0x20) } else { (SYMBOL_HIGH, 0xa0) };
    let c = table.chars().nth(code.checked_sub(first)? as usize)?;
    (c != ' ' || code == 0x20).then_some(c)
}

fn is_private(c: char) -> bool {
    matches!(c, '\u{e000}'..='\u{f8ff}')
}

#[cfg(test)]
mod tests {
    use super::{character, private};

    #[test]
    fn codes_of_symbol_fonts_are_the_characters_that_people_see() {
        for (font, code, c) in [
            ("Symbol", 0xf061, 'α'),
            ("Symbol", 0x57, 'Ω'),
            ("Symbol", 0xf0a3, '≤'),
            ("Symbol", 0xf0ae, '→'),
            ("Symbol", 0xf0b7, '•'),
            ("Symbol", 0xf0d6, '√'),
            ("Symbol", 0xf0f2, '∫'),
            ("Symbol", 0x7e, '∼'),
            ("Wingdings", 0xf0fc, '✓'),
            ("Wingdings", 0xe0, '→'),
            ("Times New Roman", 0x2603, '☃'),
        ] {
            assert_eq!(character(font, code), Some(c), "{font} {code:x}");
        }
        assert_eq!(character("Wingdings 3", 0xf001), None);
        assert_eq!(character("Webdings", 0xf0fc), None);
        assert_eq!(private('\u{f062}'), Some('β'));
        assert_eq!(private('b'), None);
    }
}
