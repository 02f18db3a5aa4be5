/// <reference types="vite/client" />
/** Words that writers found hard to understand, and those that stand in their place. */
import { expect, it } from 'vitest'

const sources = import.meta.glob<string>(['./**/*.ts', './**/*.tsx', '!./**/*.test.ts'], {
  query: '?raw',
  import: 'default',
  eager: true,
})
/** All that is on the screen, with the ways of writing it in the sources made one. */
const screen = Object.values(sources)
  .join('\n')
  .replace(/\s+/g, ' ')
  .replace(/&rsquo;|&apos;|\\'/g, '’')

/** The former words, and what is said now. */
const TABLE: readonly (readonly [RegExp, RegExp])[] = [
  [/Your approval counts/, /You approved \$\{what\}\. \$\{stillNeeded/],
  [/Propose what was not accepted again/, /Bring back rejected changes/],
  [/What it was about/, /Show the changes/],
  [
    /Your link may do everything|in and out/,
    /You have full access and can invite or remove people\./,
  ],
  [/It is shown only now/, /Copy it now; you won’t see it again\. Anyone who opens it acts as/],
  [/All that speak of a change count/, /No stricter rules yet\. Every rule that matches a change/],
  [/where a document says nothing itself/, /Server defaults/],
  [/Not whoever asked/, /Someone else/],
  [/to ask comes before any rule/, /“Always ask” overrides “Allow”\./],
  [/Countdown paused/, /Expires \{timeSpan\(left\)\} after you leave/],
  [/More time</, /> Keep it </],
  [/expired by \$\{/, /\$\{expired\} expired/],
  [/AI, let in by a person/, /AI, accepted/],
  [/There from the beginning/, /Original text/],
  [/is the text again/, /Restored the \$\{/],
  [/off at once\?/, /Remove \{name\}’s access now\?/],
  [/Accepted with other words/, /' with edits'/],
  [/No tool may change these words/, /The AI can’t change these words/],
  [/what loses its words waits here/, /Rejected and expired changes are kept here/],
  [
    /in the line that begins with/,
    /Running it yourself\? The link is in the terminal, after “open”\./,
  ],
  [
    /everything waiting for review go with it/,
    /Everyone loses it, and its pending changes are cancelled\. An owner can restore it for 30 days\./,
  ],
  [/<summary>rules<|> rules</, /'Rules'|>Rules</],
  [/> Opens </, /> Access to </],
  [/> Ends </, /> Expires </],
  [/Questions start in/, /Default mode/],
  [/hour: '2-digit'/, /hour: 'numeric'/],
  [/Keep mine/, /Keep the text/],
  [/Go on as who you are/, /Continue without this link/],
  [/Load it anew/, /Reload the page/],
  [/is called like that/, /No title matches\./],
  [/AI for \$/, /AI, asked by/],
  [/wait for you/, /to review`/],
  [/Whole paragraph: |All like this: /, /Decide this paragraph \(|Decide all \$\{/],
  [/Accept the one/, /Accept 1 correction…/],
  [/Reason or note/, /> Add a reason/],
  [/in one place only/, /Nothing to split\./],
  [/Your edit is kept/, /Edit saved\. Accept to use it\./],
  [/'Taken back\.'/, /'Undone\.'/],
  [/\(nothing\)/, /Deleted/],
  [/Whom the link is for|Make a link/, /Create link/],
  [/never here|last here/, /not opened yet/],
  [/not decide about changes in it/, /Viewers can’t accept or reject\./],
  [/Throw away/, /Discard/],
  [/Reviewing waits until/, /You can review when you’re back online/],
  [/is back when you are online/, /The AI needs a connection\./],
  [/> Remove for good|Remove all for good/, /Delete forever/],
  [/At first'|'Wrote'/, /First version/],
  [/Differences to now/, /Compare with now/],
  [/Two people decide|\} approved by one/, /Two approvals/],
  [/There are no rules/, /No rules: every change needs a decision\./],
  [/told no at once/, /Blocked: never proposed, even with approvals off\./],
  [/without one of their own/, /Default limit per person/],
  [/You are known/, /You’re signed in but have no access here\./],
  [/Ask people first/, /Require approval/],
  [/Move a list item|This sheet|Leave the text/, /Go to the review bar/],
  [/remembers it for new tabs/, /This browser stays signed in\./],
]

it.each(TABLE)('nobody reads %s any more', (former, now) => {
  expect(former.exec(screen)?.[0]).toBeUndefined()
  expect(now.test(screen)).toBe(true)
})

it('says “Always ask” overrides “Allow” wherever rules are listed', () => {
  for (const place of ['./workspace-inbox/InboxRules.tsx', './rules/Rules.tsx'])
    expect(sources[place]).toMatch(/“Always ask” overrides “Allow”/)
})

it('shows an archive where changes are kept, and a bin only where something is deleted', () => {
  const bins = Object.keys(sources).filter((path) => sources[path]!.includes('name="trash"'))
  expect(bins).toEqual(['./library/LibraryLine.tsx'])
})

it.each(['Indent', 'Outdent', 'Paste without formatting', 'Undo', 'Redo'])(
  'lists “%s” among the keyboard shortcuts, as the documentation says',
  (action) => {
    expect(sources['./app/Shortcuts.tsx']).toContain(`does="${action}"`)
  },
)
