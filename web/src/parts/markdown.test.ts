import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blocksOf, spansOf } from './markdown.ts';

test('a document is read block by block', () => {
  const document = `# Title

Two lines
of a paragraph.
## Cure
- one
  goes on
- two
\`\`\`html
<p>

</p>
\`\`\`
End.`;
  expect(blocksOf(document)).toEqual([
    { kind: 'heading', level: 1, text: 'Title' },
    { kind: 'paragraph', text: 'Two lines of a paragraph.' },
    { kind: 'heading', level: 2, text: 'Cure' },
    { kind: 'list', items: ['one goes on', 'two'] },
    { kind: 'code', text: '<p>\n\n</p>' },
    { kind: 'paragraph', text: 'End.' },
  ]);
});

test('a line is read part by part', () => {
  expect(spansOf('Write `alt=""`, **always**: [why](https://example.com/a), <https://example.com>.')).toEqual(
    [
      { kind: 'text', text: 'Write ' },
      { kind: 'code', text: 'alt=""' },
      { kind: 'text', text: ', ' },
      { kind: 'strong', text: 'always' },
      { kind: 'text', text: ': ' },
      { kind: 'link', text: 'why', href: 'https://example.com/a' },
      { kind: 'text', text: ', ' },
      { kind: 'link', text: 'https://example.com', href: 'https://example.com' },
      { kind: 'text', text: '.' },
    ],
  );
});

test('whatever it is given, it ends', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('- a', '```', '# b', '', 'c', '  d', '**', '[x](')), (lines) => {
      const blocks = blocksOf(lines.join('\n'));
      for (const block of blocks) if (block.kind === 'paragraph') spansOf(block.text);
    }),
  );
});
