//! The editor in a real browser: the stories of `web/e2e`, each run against a server of its own.
//!
//! They need Node.js and Chromium; those that are told in Firefox, too, need the distribution's
//! Firefox. Without them a story is skipped, loudly; with `COPYDESK_REQUIRE_ALL=1` that is a
//! failure. Screenshots of each step are left in `target/tmp/browser`.
#![expect(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "it/support/skip.rs"]
mod skip;

/// Folder of the editor's packages, `playwright-core` among them; from `build.rs`.
const MODULES: &str = env!("COPYDESK_WEB_MODULES");
const CHROMIUM: Browser = Browser {
    name: "Chromium",
    programs: &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
};
const FIREFOX: Browser = Browser { name: "Firefox", programs: &["firefox-esr", "firefox"] };

/// A browser, and the names that its program may have.
struct Browser {
    name: &'static str,
    programs: &'static [&'static str],
}

#[test]
fn a_writer_reviews_a_grammar_fix_change_by_change_and_a_crash_loses_nothing() {
    tell("main-job", "harper");
}

#[test]
fn two_writers_review_together_and_no_one_overwrites_what_they_have_not_seen() {
    tell("together", &script("lamp"));
}

#[test]
fn decisions_carry_all_they_can_and_nothing_that_was_refused_or_half_written_is_lost() {
    tell("decisions", &script("decisions"));
}

#[test]
fn everybody_sees_whose_words_are_and_goes_back_to_an_old_version() {
    tell("history", &script("lamp"));
}

#[test]
fn work_in_a_folder_waits_in_the_inbox_for_everybody_who_may_decide() {
    tell("inbox", &script("inbox"));
}

#[test]
fn words_in_the_inbox_outlive_what_others_decide_and_a_rule_decides_the_next_file() {
    tell("inbox-decisions", &script("inbox-decisions"));
}

#[test]
fn what_was_done_in_the_inbox_is_undone_and_what_was_refused_comes_back_from_its_bin() {
    tell("inbox-undo", &script("inbox-undo"));
}

#[test]
fn a_file_is_written_by_two_people_and_another_program() {
    tell("files", &script("lamp"));
}

#[test]
fn words_far_away_are_found_and_markdown_is_shown_as_it_is_meant() {
    tell("long-text", &script("lamp"));
}

#[test]
fn words_typed_while_the_server_is_away_outlive_the_page() {
    tell("offline", &script("lamp"));
}

#[test]
fn what_was_typed_and_deleted_offline_outlives_a_crash_and_goes_back_to_its_place() {
    tell("crashed-tab", "harper");
}

#[test]
fn a_word_is_composed_whole_while_others_edit_the_same_paragraph() {
    tell("composition", "harper");
}

#[test]
fn a_person_suggests_another_writes_beside_it_and_a_third_decides_on_a_phone() {
    tell("suggesting", "harper");
}

#[test]
fn a_suggestion_outlives_conflicts_frozen_words_two_tabs_a_crash_and_a_lost_right() {
    tell("suggesting-edges", "harper");
}

#[test]
fn a_double_click_decides_once_nothing_covers_the_change_and_a_person_has_one_colour() {
    tell("promises", "harper");
}

#[test]
fn a_page_whose_server_was_restored_loads_its_text_anew_and_keeps_what_was_typed() {
    tell("restored", "harper");
}

#[test]
fn people_are_let_in_by_links_and_out_again_and_keep_their_words() {
    tell("share", &script("lamp"));
}

#[test]
fn a_document_is_shared_with_people_who_sign_in_and_with_their_groups() {
    tell("sharing", &script("lamp"));
}

#[test]
fn a_small_correction_is_remembered_marked_undone_and_the_rule_revoked() {
    tell("rules", &script("ledger"));
}

#[test]
fn a_document_is_reviewed_by_keyboard_alone_and_no_letter_goes_astray() {
    tell("keyboard", &script("keyboard"));
}

#[test]
fn a_writer_has_a_name_asks_and_is_answered_and_sees_what_waits() {
    tell("writing", &script("writing"));
}

#[test]
fn only_a_change_that_is_seen_is_decided_and_everything_can_be_taken_back() {
    tell("review", &script("review"));
}

#[test]
fn everything_is_taken_back_wherever_the_keyboard_is_and_a_press_too_many_writes_nothing() {
    tell("taking-back", &script("taking-back"));
}

#[test]
fn two_people_see_who_approved_what_and_take_back_what_is_theirs() {
    tell("two-people", &script("keyboard"));
}

#[test]
fn two_people_decide_the_same_change_shortly_after_each_other_and_nothing_else_is_decided() {
    tell("races", "harper");
}

#[test]
fn sixteen_and_sixty_changes_are_reviewed_by_keyboard_by_mouse_and_by_touch_alone() {
    tell("long-review", "harper");
}

#[test]
fn rich_text_and_word_documents_come_in_with_their_structure_and_deleted_documents_come_back() {
    tell("rich-text", "harper");
}

#[test]
fn tracked_changes_of_an_imported_word_file_wait_and_what_was_left_out_is_said() {
    tell("import", "harper");
}

#[test]
fn names_stand_between_the_lines_and_two_who_type_at_once_make_one_step_of_the_history() {
    tell("edges", &script("lamp"));
}

#[test]
fn what_a_review_comes_into_now_and_then_says_what_it_should_and_has_no_barrier() {
    tell("states", "harper");
}

#[test]
fn changes_of_meaning_are_signed_listed_first_and_decided_with_more_care_than_the_others() {
    tell("meaning", "harper");
}

#[test]
fn changes_are_put_off_for_later_listed_in_every_order_and_read_one_after_the_other() {
    tell("later", "harper");
}

#[test]
fn two_people_comment_on_words_that_move_go_and_come_back() {
    tell("comments", "harper");
}

#[test]
fn comments_are_written_by_keyboard_alone_and_on_a_phone_and_drafts_outlive_everything() {
    tell("comments-alone", "harper");
}

#[test]
fn a_question_in_a_comment_is_answered_there_and_a_mention_is_read_in_every_tab() {
    tell("comments-ai", &script("comments-ai"));
}

#[test]
fn an_owner_sees_what_goes_on_and_what_it_costs_and_sets_a_limit() {
    tell("server", "harper");
}

#[test]
fn a_team_edits_a_word_file_and_what_is_open_goes_back_to_word_under_the_same_names() {
    tell("editorial", &script("editorial"));
}

#[test]
fn in_firefox_a_writer_reviews_a_grammar_fix_and_a_crash_loses_nothing() {
    FIREFOX.tell("main-job", "harper");
}

#[test]
fn in_firefox_people_comment_on_words_that_move_go_and_come_back() {
    FIREFOX.tell("comments", "harper");
}

#[test]
fn in_firefox_a_question_to_the_ai_is_answered_in_its_comment_and_a_mention_is_read() {
    FIREFOX.tell("comments-ai", &script("comments-ai"));
}

#[test]
fn in_firefox_a_person_suggests_another_writes_beside_it_and_a_third_decides() {
    FIREFOX.tell("suggesting", "harper");
}

#[test]
fn in_firefox_a_team_edits_a_word_file_and_what_is_open_goes_back_to_word() {
    FIREFOX.tell("editorial", &script("editorial"));
}

#[test]
fn in_firefox_changes_are_put_off_for_later_and_decided_in_the_end() {
    FIREFOX.tell("later", "harper");
}

#[test]
fn in_firefox_two_writers_review_together_and_no_one_overwrites_what_they_have_not_seen() {
    FIREFOX.tell("together", &script("lamp"));
}

#[test]
fn in_firefox_decisions_carry_all_they_can_and_nothing_that_was_refused_is_lost() {
    FIREFOX.tell("decisions", &script("decisions"));
}

/// Returns the scripted model of this name.
fn script(name: &str) -> String {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/e2e/scripts");
    format!("script:{}", scripts.join(format!("{name}.json")).display())
}

/// Runs one story in Chromium with a model.
fn tell(story: &str, model: &str) {
    CHROMIUM.tell(story, model);
}

impl Browser {
    /// Runs one story with a model; its last lines say what went wrong.
    fn tell(&self, story: &str, model: &str) {
        let program = match self.program() {
            Ok(program) => program,
            Err(missing) => return skip::skip(skip::story(), missing),
        };
        let data = tempfile::tempdir().unwrap();
        let shots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("web/e2e/{story}.mjs"));
        let output = Command::new("node")
            .arg(script)
            .env("COPYDESK_BIN", env!("CARGO_BIN_EXE_copydesk"))
            .env("COPYDESK_WEB_MODULES", MODULES)
            .env("COPYDESK_BROWSER", self.name.to_lowercase())
            .env(self.variable(), program)
            .env("COPYDESK_SHOTS", &shots)
            .env("COPYDESK_DATA", data.path())
            .env("COPYDESK_MODEL", model)
            .output()
            .unwrap();
        let said = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(
            output.status.success(),
            "the story `{story}` failed in {}; pictures in {}:\n{said}",
            self.name,
            shots.display()
        );
    }

    /// The variable that may name its program.
    fn variable(&self) -> String {
        format!("COPYDESK_{}", self.name.to_uppercase())
    }

    /// Its program, or what is missing.
    fn program(&self) -> Result<PathBuf, String> {
        if !Path::new(MODULES).join("playwright-core").is_dir() {
            return Err(format!(
                "the editor was not built with npm (no playwright-core in `{MODULES}`)"
            ));
        }
        let node = Command::new("node").arg("--version").output();
        if !node.is_ok_and(|node| node.status.success()) {
            return Err("Node.js is not installed".to_owned());
        }
        let variable = self.variable();
        if let Some(named) = std::env::var_os(&variable) {
            return Ok(named.into());
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path)
            .flat_map(|dir| self.programs.iter().map(move |name| dir.join(name)))
            .find(|file| file.is_file())
            .ok_or_else(|| format!("{} is not installed (or name it in {variable})", self.name))
    }
}
