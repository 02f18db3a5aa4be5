//! Changes that are marked, changes that are not, and disguises that hide nothing.

use copydesk_marks::{Language, MarkKind, marks};

use Language::{English, French, German, Other};

/// Returns the kinds of the marks of a change.
fn kinds(language: Language, before: &str, after: &str) -> Vec<MarkKind> {
    marks(before, after, language).into_iter().map(|mark| mark.kind).collect()
}

#[track_caller]
fn is_marked(kind: MarkKind, language: Language, before: &str, after: &str) {
    let found = marks(before, after, language);
    assert!(found.iter().any(|mark| mark.kind == kind), "{before:?} -> {after:?}: {found:?}");
}

#[track_caller]
fn is_the_same(language: Language, pairs: &[(&str, &str)]) {
    for (before, after) in pairs {
        assert_eq!(marks(before, after, language), [], "{before:?} -> {after:?}");
        assert_eq!(marks(after, before, language), [], "{after:?} -> {before:?}");
    }
}

#[test]
fn a_mark_has_the_words_of_both_sides() {
    let found = marks("They sold 12 boats.", "They sold 21 boats.", English);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].was.as_str(), found[0].now.as_str()), ("12", "21"));
    let found = marks("It was allegedly lost.", "It was lost.", English);
    assert_eq!((found[0].was.as_str(), found[0].now.as_str()), ("allegedly", ""));
}

#[test]
fn one_number_is_written_in_many_ways() {
    is_the_same(
        English,
        &[
            ("He has 12 dogs.", "He has twelve dogs."),
            ("It fell by 5 %.", "It fell by five per cent."),
            ("They paid 1,000 dollars.", "They paid $1000."),
            ("It cost 3.5 million euros.", "It cost €3,500,000."),
            ("It is 5 km long.", "It is five kilometres long."),
            ("The 3rd prize went to Kenya.", "The third prize went to Kenya."),
            ("Half a metre is enough.", "50 cm is enough."),
            ("Two hundred and five people came.", "205 people came."),
        ],
    );
    is_the_same(
        German,
        &[
            ("Es kostet 1.000 Euro.", "Es kostet 1000 €."),
            ("Er hat einundzwanzig Hunde.", "Er hat 21 Hunde."),
            ("Um 15 Uhr geht es los.", "Um 15:00 Uhr geht es los."),
        ],
    );
    is_the_same(
        French,
        &[
            ("Elle a quatre-vingt-dix-sept ans.", "Elle a 97 ans."),
            ("Il pèse 3,5 kg.", "Il pèse 3,5 kilogrammes."),
        ],
    );
    is_marked(MarkKind::Number, German, "Es sind 3,5 Prozent.", "Es sind 35 Prozent.");
    is_marked(MarkKind::Unit, English, "It weighs 5 kg.", "It weighs 5 g.");
}

#[test]
fn one_date_is_written_in_many_ways() {
    is_the_same(
        English,
        &[
            ("On 12 March 2024 it rained.", "On March 12, 2024 it rained."),
            ("On 12 March 2024 it rained.", "On 2024-03-12 it rained."),
            ("We meet at 3 pm.", "We meet at 15:00."),
        ],
    );
    is_the_same(German, &[("Am 3. Mai 2024 regnet es.", "Am 03.05.2024 regnet es.")]);
    is_the_same(French, &[("Le 1er mars 2024, il pleut.", "Le 1 mars 2024, il pleut.")]);
    is_marked(MarkKind::Date, English, "We meet on Monday.", "We meet on Tuesday.");
}

#[test]
fn names_that_change_places_are_marked_and_a_passive_is_not() {
    is_marked(MarkKind::Name, English, "Okafor beat Ruiz.", "Ruiz beat Okafor.");
    is_marked(MarkKind::Name, German, "Anna hat Peter besucht.", "Peter hat Anna besucht.");
    is_the_same(
        English,
        &[
            ("Maria Keller designed the bridge.", "The bridge was designed by Maria Keller."),
            ("Anna and Bob came.", "Bob and Anna came."),
        ],
    );
}

#[test]
fn who_acts_is_marked_when_the_voice_alone_changes() {
    is_marked(
        MarkKind::Name,
        French,
        "Paul Ferrand a été battu de 83 voix par Lucie Morel.",
        "Paul Ferrand a battu de 83 voix Lucie Morel.",
    );
    is_marked(
        MarkKind::Name,
        German,
        "Als Viktor aufstand, schlief Helene noch.",
        "Als Helene aufstand, schlief Viktor noch.",
    );
    is_the_same(
        French,
        &[("Lucie Morel a battu Paul Ferrand.", "Paul Ferrand a été battu par Lucie Morel.")],
    );
}

#[test]
fn a_term_and_its_letters_are_one_name() {
    is_the_same(
        English,
        &[("The World Health Organization (WHO) warns of heat.", "The WHO warns of heat.")],
    );
    is_the_same(French, &[("Le CA (Conseil d'administration) vote.", "Le CA vote.")]);
    is_the_same(French, &[("L'Etat dit « l'Etat paie ».", "L'État dit « l'État paie ».")]);
}

#[test]
fn denials_and_bounds_are_said_in_many_ways() {
    is_the_same(
        English,
        &[
            ("The driver was not hurt.", "The driver was unhurt."),
            ("No fee is due unless you win.", "A fee is due only if you win."),
            ("He did not come before noon.", "He did not come until noon."),
        ],
    );
    is_the_same(
        German,
        &[("Das Gras war nach Tagen ohne Regen gelb.", "Nach regenlosen Tagen war das Gras gelb.")],
    );
    is_the_same(French, &[("On ne peut le dire.", "On ne peut pas le dire.")]);
    is_marked(
        MarkKind::Negation,
        French,
        "L'eau peut être modifiée.",
        "L'eau ne peut être modifiée.",
    );
}

#[test]
fn french_words_that_look_like_units_are_none() {
    is_the_same(
        French,
        &[
            ("En 2013, l'espèce fut revue.", "L'espèce fut revue en 2013."),
            ("Elle s'ouvrit en 2013.", "En 2013 s'ouvrit la salle."),
            ("Elle a 19 ans.", "Elle a dix-neuf ans."),
        ],
    );
}

#[test]
fn two_negations_cancel_each_other() {
    is_the_same(
        English,
        &[
            ("He failed to attend.", "He did not attend."),
            ("They rejected it.", "They did not accept it."),
            ("It is not clear.", "It is unclear."),
            ("He can't come.", "He is unable to come."),
        ],
    );
    is_marked(MarkKind::Negation, English, "He did not come home.", "He came home.");
    is_marked(MarkKind::Negation, French, "Il n'a pas signé la lettre.", "Il a signé la lettre.");
    is_marked(MarkKind::Quantity, French, "Il n'a que deux chats.", "Il a deux chats.");
}

#[test]
fn emphasis_quotation_marks_and_dashes_are_no_change() {
    is_the_same(
        English,
        &[
            ("He said \"yes\" - at once.", "He said “yes” — at once."),
            ("Do **not** open it.", "Do _not_ open it."),
            ("It's a well known fact.", "It’s a well-known fact."),
            ("5\u{a0}km", "5 km"),
        ],
    );
    is_marked(MarkKind::Quote, English, "He wrote \"maybe\".", "He wrote \"never\".");
    is_marked(MarkKind::Code, English, "Run `ls -a`.", "Run `ls -A`.");
    is_marked(
        MarkKind::Link,
        English,
        "See [it](https://a.example/1).",
        "See [it](https://a.example/2).",
    );
}

#[test]
fn nothing_hides_a_changed_number() {
    for hidden in [
        "1\u{200b}3",
        "1\u{ad}3",
        "１３",
        "١٣",
        "\u{202e}21\u{202c}",
        "1\u{336}2",
        "1\u{2060}2",
        "𝟏𝟐",
    ] {
        let after = format!("They sold {hidden} boats.");
        is_marked(MarkKind::Number, English, "They sold 12 boats.", &after);
    }
}

#[test]
fn nothing_hides_a_changed_name() {
    for hidden in [
        "P\u{430}ris",
        "Pa\u{200b}ris",
        "Pa\u{ad}ris",
        "Ｐａｒｉｓ",
        "Pa\u{336}ris",
        "Ραris",
        "\u{202e}Paris\u{202c}",
    ] {
        let after = format!("They live in {hidden} now.");
        is_marked(MarkKind::Name, English, "They live in Paris now.", &after);
    }
}

#[test]
fn a_hidden_negation_is_read() {
    for hidden in ["n\u{43e}t", "n\u{200b}ot", "no\u{ad}t", "ｎｏｔ"] {
        let after = format!("He did {hidden} open the door.");
        is_marked(MarkKind::Negation, English, "He did open the door.", &after);
    }
}

#[test]
fn letters_of_several_characters_are_one() {
    is_the_same(French, &[("Il vit à Orléans.", "Il vit a\u{300} Orle\u{301}ans.")]);
}

#[test]
fn other_languages_have_numbers_names_links_and_code() {
    is_marked(MarkKind::Number, Other, "Vendió 48.000 libros.", "Vendió 84.000 libros.");
    is_marked(MarkKind::Name, Other, "Lo escribió Lucía Romero.", "Lo escribió Lucía Moreno.");
    assert_eq!(kinds(Other, "Vendió muchos libros.", "Vendió pocos libros."), []);
}

#[test]
fn the_language_is_known_by_its_small_words() {
    assert_eq!(Language::of("The house is on the hill."), Some(English));
    assert_eq!(Language::of("Das Haus ist auf dem Berg."), Some(German));
    assert_eq!(Language::of("La maison est sur la colline."), Some(French));
    assert_eq!(Language::of("Preise steigen"), None);
    assert_eq!(Language::of(""), None);
}

#[test]
fn the_result_is_bounded() {
    let numbers =
        |from: u32| (from..from + 5000).map(|it| it.to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!(marks(&numbers(10_000), &numbers(50_000), English).len(), 32);
    let code = |letter: &str| format!("`{}`", letter.repeat(1000));
    let found = marks(&code("a"), &code("b"), English);
    assert!(found.iter().all(|mark| mark.was.len() <= 120 && mark.now.len() <= 120));
}
