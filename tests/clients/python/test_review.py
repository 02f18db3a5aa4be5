import os
import pathlib
import unittest

from copydesk import Server

HERE = pathlib.Path(__file__).parent
SCRIPTS = pathlib.Path(os.environ.get("COPYDESK_SCRIPTS", HERE / "../../../fixtures/scripts"))
TEXT = "He could of slept. It were late."


class Review(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(SCRIPTS / "two-corrections.json")
        cls.addClassCleanup(cls.server.stop)

    def asked(self):
        """Ana has a document, and two changes of it wait for her."""
        ana = self.server.person("Ana")
        document = ana.opens(TEXT)
        ana.prompts(document, "Correct this")
        return ana, document, ana.hears("tool_approval_request")

    def test_nothing_changes_before_somebody_says_so_and_then_exactly_that(self):
        ana, document, request = self.asked()
        self.assertEqual(ana.reads(document), TEXT)
        parts = [(part["base"], part["insert"]) for hunk in request["hunks"] for part in hunk["parts"]]
        self.assertEqual(parts, [("of", "have"), ("were", "was")])
        decided = ana.asks("tool_approval_response", {"request_id": request["request_id"], "approved": True})
        self.assertEqual((decided["ok"], decided["status"]), (True, "approved"))
        self.assertEqual(ana.hears("claudeResponse")["documentUpdate"], "He could have slept. It was late.")

    def test_one_change_is_taken_as_edited_and_the_other_refused(self):
        ana, document, request = self.asked()
        first, second = (hunk["id"] for hunk in request["hunks"])
        hunks = [{"id": first, "decision": "accept", "text": "might have"}, {"id": second, "decision": "reject"}]
        ana.asks("tool_approval_response", {"request_id": request["request_id"], "approved": True, "hunks": hunks})
        self.assertEqual(ana.hears("tool_approval_resolved")["status"], "partly")
        self.assertIn("might have slept. It were late.", ana.reads(document))

    def test_a_rejection_reaches_the_model_in_the_persons_words(self):
        ana, document, request = self.asked()
        rejection = {"request_id": request["request_id"], "approved": False, "feedback": "Leave it"}
        ana.asks("tool_approval_response", rejection)
        self.assertEqual(ana.hears("claudeResponse")["conversationMessage"], "Two slips.\nUnderstood.")
        self.assertEqual(ana.reads(document), TEXT)

    def test_an_approval_is_bound_to_what_was_shown(self):
        ana, document, request = self.asked()
        approval = {"request_id": request["request_id"], "approved": True}
        stale = ana.asks("tool_approval_response", approval | {"preview_hash": "of something else"})
        self.assertEqual(stale["error"]["code"], "stale_preview")
        self.assertEqual(ana.reads(document), TEXT)
        seen = stale["error"]["details"]["preview_hash"]
        self.assertTrue(ana.asks("tool_approval_response", approval | {"preview_hash": seen})["ok"])

    def test_what_nobody_decides_in_time_is_not_applied(self):
        with Server(SCRIPTS / "two-corrections.json", "--approval-timeout", "1") as hasty:
            ana = hasty.person("Ana")
            document = ana.opens(TEXT)
            ana.prompts(document, "Correct this")
            self.assertEqual(ana.hears("tool_approval_resolved")["status"], "expired")
            ana.hears("claudeResponse")
            self.assertEqual(ana.reads(document), TEXT)


if __name__ == "__main__":
    unittest.main()
