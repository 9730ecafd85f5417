import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ContentRules, ContentScanner } from './content-scanner.ts';

interface Read {
  readonly state: string;
  readonly fault: string | null;
  readonly body: string;
  readonly rest: string;
  readonly dotStuffing: boolean;
}

function read(chunks: readonly Buffer[], rules: ContentRules, dots: boolean): Read {
  const scanner = new ContentScanner(rules, dots);
  let body = '';
  let rest = '';
  for (const chunk of chunks) {
    const stop = scanner.state === 'open' ? scanner.read(chunk, 0, chunk.length) : 0;
    body += scanner.takePiece().toString('latin1');
    rest += chunk.toString('latin1', stop);
  }
  if (!dots) {
    scanner.finish();
    body += scanner.takePiece().toString('latin1');
  }
  const { state, fault, dotStuffing } = scanner;
  return { state, fault, body, rest, dotStuffing };
}

/** Lines with any ending become CRLF lines, dots unstuffed: the simplest way to write it. */
function plainForm(content: string, dots: boolean): string {
  const lines = content.split(/\r\n|\r|\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => `${dots ? line.replace(/^\./, '') : line}\r\n`).join('');
}

const wire = fc
  .array(fc.constantFrom('.', '\r', '\n', '\0', 'x', 'yy', '\r\n', '\r\n.', '\r\n.\r\n', '\n.\n', '\r\n..'), {
    maxLength: 20,
  })
  .map((pieces) => pieces.join(''));
const cuts = fc.array(fc.nat(40), { maxLength: 6 });

function cut(text: string, places: readonly number[]): Buffer[] {
  const ends = [...places.filter((place) => place < text.length), text.length].sort((a, b) => a - b);
  return ends.map((end, i) => Buffer.from(text.slice(ends[i - 1] ?? 0, end), 'latin1'));
}

test('normalized content is what the simplest reader makes of it, and ends at CRLF.CRLF alone', () => {
  const rules: ContentRules = { bareNewline: 'normalize', maxLineBytes: 1000 };
  fc.assert(
    fc.property(wire, cuts, (text, places) => {
      const got = read(cut(text, places), rules, true);
      const end = `\r\n${text}`.indexOf('\r\n.\r\n');
      expect(got.state).toBe(end < 0 ? 'open' : 'ended');
      if (end < 0) return;
      expect(got.body).toBe(plainForm(text.slice(0, end), true));
      expect(got.rest).toBe(text.slice(end + 3));
      if (!got.dotStuffing) expect(`\r\n${got.body}`).not.toContain('\r\n.');
    }),
    { numRuns: 5000 },
  );
});

test('strict content is taken exactly when it has no bare CR, bare LF and NUL', () => {
  const rules: ContentRules = { bareNewline: 'reject', maxLineBytes: 1000 };
  fc.assert(
    fc.property(wire, cuts, (text, places) => {
      const got = read(cut(text, places), rules, true);
      const end = `\r\n${text}`.indexOf('\r\n.\r\n');
      const content = end < 0 ? text : text.slice(0, end);
      const bad = /\0|\r(?!\n)|(?<!\r)\n/.test(content);
      // A lone dot with a wrong line ending on either side.
      const malformed = /(?:^|\r\n?|\n)\.(?:\r(?!\n)|\n)|(?:\r(?!\n)|(?<!\r)\n)\.\r\n/.test(
        `${content}\r\n`.slice(0, -2),
      );
      if (got.state === 'malformed') expect(malformed).toBe(true);
      else expect(got.state).toBe(end < 0 ? 'open' : 'ended');
      if (got.state === 'ended') expect(got.fault !== null).toBe(bad);
      if (got.state === 'ended' && !bad) expect(got.body).toBe(plainForm(content, true));
    }),
    { numRuns: 5000 },
  );
});

test('content in chunks is what the simplest reader makes of it, with no end within', () => {
  const rules: ContentRules = { bareNewline: 'normalize', maxLineBytes: 1000 };
  fc.assert(
    fc.property(wire, cuts, (text, places) => {
      const got = read(cut(text, places), rules, false);
      expect(got.body).toBe(plainForm(text, false));
      if (!got.dotStuffing) expect(`\r\n${got.body}`).not.toContain('\r\n.');
    }),
    { numRuns: 5000 },
  );
});

test('a chunk in which nothing changes is passed on, not copied', () => {
  const scanner = new ContentScanner({ bareNewline: 'reject', maxLineBytes: 1000 }, true);
  const chunk = Buffer.from('a line\r\nanother. one\r\n.\r\nQUIT\r\n');
  expect(scanner.read(chunk, 0, chunk.length)).toBe(25);
  const piece = scanner.takePiece();
  expect(piece.buffer).toBe(chunk.buffer);
  expect(piece.toString()).toBe('a line\r\nanother. one\r\n');
});

test('a chunk of nothing but bare LF doubles', () => {
  const scanner = new ContentScanner({ bareNewline: 'normalize', maxLineBytes: 1000 }, true);
  scanner.read(Buffer.alloc(100_000, '\n'), 0, 100_000);
  expect(scanner.takePiece().equals(Buffer.from('\r\n'.repeat(100_000)))).toBe(true);
});
