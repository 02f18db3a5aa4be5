import { expect, test } from 'vitest'
import { markdownOf } from './markdownOf.ts'

test('a page of the web keeps what structures it', () => {
  const page = `<html><head><title>Not this</title><style>p { color: red }</style></head><body>
    <!--StartFragment--><h2>The <b>keeper</b></h2>
    <p>He <strong>wrote</strong> <em>every</em> night, see <a href="https://a.example/x (1)">the ledger</a>.</p>
    <ul><li>oil</li><li><p>wicks</p><ul><li>long</li></ul></li></ul>
    <ol start="3"><li>climb</li><li>light</li></ol>
    <blockquote><p>Nobody came.</p></blockquote>
    <pre><span>let</span> x = 1</pre>
    <p>a <a href="javascript:alert(1)">trap</a> <img alt="a lamp" src="data:image/png;base64,xx"></p>
    <script>alert(1)</script></body></html>`
  expect(markdownOf(page)).toBe(
    [
      '## The keeper',
      'He **wrote** *every* night, see [the ledger](https://a.example/x%20%281%29).',
      '- oil\n- wicks\n  - long',
      '3. climb\n4. light',
      '> Nobody came.',
      '```\nlet x = 1\n```',
      'a trap a lamp',
    ].join('\n\n'),
  )
})

test('a text of Google Docs has its emphasis in styles, and is not bold as a whole', () => {
  const doc = `<meta charset="utf-8"><b style="font-weight:normal;" id="docs-internal-guid-1">
    <h1 dir="ltr"><span style="font-weight:400;">Title</span></h1>
    <p dir="ltr"><span style="font-weight:400">The </span><span style="font-weight:700">lamp</span><span style="font-weight: 400; font-style: italic"> burned</span><span>.</span></p><br />
    <ul><li dir="ltr"><p dir="ltr"><span>one</span></p></li><li dir="ltr"><p dir="ltr"><span>two</span></p></li></ul></b>`
  expect(markdownOf(doc)).toBe('# Title\n\nThe **lamp** *burned*.\n\n- one\n- two')
})

test('a text of Word has lists that are paragraphs, and a title', () => {
  const item = (marker: string, words: string, level = 1) =>
    `<p class=MsoListParagraphCxSpFirst style='text-indent:-18.0pt;mso-list:l0 level${level} lfo1'><![if !supportLists]><span style='font-family:Symbol'><span style='mso-list:Ignore'>${marker}<span style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp; </span></span></span><![endif]>${words}<o:p></o:p></p>`
  const doc = `<html xmlns:o="urn:schemas-microsoft-com:office:office"><body><p class=MsoTitle>The Ledger</p>
    <h1>Night</h1><p class=MsoNormal><b>He</b>&nbsp;wrote.</p><p class=MsoNormal><o:p>&nbsp;</o:p></p>
    ${item('·', 'oil')}${item('o', 'long', 2)}${item('·', 'wicks')}
    <p class=MsoNormal>Then:</p>${item('1.', 'climb')}${item('2.', 'light')}</body></html>`
  expect(markdownOf(doc)).toBe(
    '# The Ledger\n\n# Night\n\n**He** wrote.\n\n- oil\n   - long\n- wicks\n\nThen:\n\n1. climb\n2. light',
  )
})

test('a table stays one, and one that only arranges things does not', () => {
  const table = `<table><thead><tr><th>Night</th><th>Ships</th></tr></thead>
    <tbody><tr><td><p>one</p></td><td>a|b</td></tr><tr><td>two</td></tr></tbody></table>`
  expect(markdownOf(table)).toBe('| Night | Ships |\n| --- | --- |\n| one | a\\|b |\n| two |  |')
  expect(markdownOf(`<table><tr><td><h2>A</h2>${table}</td></tr></table>`)).toMatch(
    /^## A\n\n\| Night \|/,
  )
})

test.each([
  ['<p># 1</p>', '\\# 1'],
  ['<p>* one</p>', '\\* one'],
  ['<p>- one</p>', '\\- one'],
  ['<ul><li>[ ] one</li></ul>', '- \\[ \\] one'],
  ['<p>1911. It was cold.</p>', '1911\\. It was cold.'],
  ['<p>*one* and _two_ and `three`</p>', '\\*one\\* and \\_two\\_ and \\`three\\`'],
  ['<p>[one](two) and [one][two]</p>', '\\[one\\](two) and \\[one\\][two]'],
  ['<p>[one]: https://a.example</p>', '\\[one\\]: https://a.example'],
  ['<p><a href="https://a.example">see [1]</a></p>', '[see \\[1\\]](https://a.example)'],
  ['<p>5*<b>4</b></p>', '5\\***4**'],
  ['<p>C:\\*.txt</p>', 'C:\\\\*.txt'],
])('signs of %j that Markdown would read are escaped', (html, markdown) => {
  expect(markdownOf(html)).toBe(markdown)
})

test.each([
  '2 * 3 * 4',
  '5*4',
  'snake_case_name and a__b',
  'He wrote [sic] and […] in [1], and [ed.: check].',
  'As in [1]: it was cold',
  'C:\\Users',
  '-5 degrees',
  'one ` two',
])('signs of %j that are words there are not escaped', (words) => {
  expect(markdownOf(`<p>${words}</p>`)).toBe(words)
})

test('code stays as it is, in its lines', () => {
  expect(markdownOf('<pre><code>one<br>  two</code></pre>')).toBe('```\none\n  two\n```')
  expect(markdownOf('<p><code>a_b \\[c\\]</code></p><pre>a\\_b\n\n\\[c\\]</pre><p>d_e</p>')).toBe(
    '`a_b \\[c\\]`\n\n```\na\\_b\n\n\\[c\\]\n```\n\nd_e',
  )
})
