/** Documents of our own, as far as they are shown here: headings, paragraphs, lists, code, and what stands in a line. */

/** A part of a document. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'code'; readonly text: string };

/** A part of a line. */
export type Span =
  | { readonly kind: 'text' | 'code' | 'strong'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string };

const HEADING = /^(#{1,4}) +(.*)$/;
const ITEM = /^- +(.*)$/;
const FENCE = /^```/;

/** Reads a document into its blocks. */
export function blocksOf(document: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = document.replaceAll('\r\n', '\n').split('\n');
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const [, marks, heading] = HEADING.exec(line) ?? [];
    if (line.trim() === '') continue;
    if (FENCE.test(line)) {
      const end = lines.findIndex((other, place) => place > at && FENCE.test(other));
      const last = end === -1 ? lines.length : end;
      blocks.push({ kind: 'code', text: lines.slice(at + 1, last).join('\n') });
      at = last;
    } else if (heading !== undefined) {
      blocks.push({ kind: 'heading', level: marks?.length ?? 1, text: heading });
    } else {
      const end = lines.findIndex((other, place) => place > at && endsBefore(other));
      const last = end === -1 ? lines.length : end;
      const own = lines.slice(at, last);
      blocks.push(
        ITEM.test(line)
          ? { kind: 'list', items: itemsOf(own) }
          : { kind: 'paragraph', text: own.map((each) => each.trim()).join(' ') },
      );
      at = last - 1;
    }
  }
  return blocks;
}

/** Whether a paragraph or a list ends before a line. */
function endsBefore(line: string): boolean {
  return line.trim() === '' || FENCE.test(line) || HEADING.test(line);
}

/** Lines that go on with an item are part of it. */
function itemsOf(lines: readonly string[]): readonly string[] {
  const items: string[] = [];
  for (const line of lines) {
    const text = ITEM.exec(line)?.[1];
    if (text !== undefined) items.push(text);
    else items.push(`${items.pop() ?? ''} ${line.trim()}`.trim());
  }
  return items;
}

const SPAN = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^()\s]+)\)|<(https?:\/\/[^>\s]+)>/g;

/** Reads a line into its parts. */
export function spansOf(line: string): readonly Span[] {
  const spans: Span[] = [];
  let end = 0;
  for (const { 0: all, 1: code, 2: strong, 3: words, 4: href, 5: address, index } of line.matchAll(SPAN)) {
    spans.push({ kind: 'text', text: line.slice(end, index) });
    end = index + all.length;
    if (code !== undefined) spans.push({ kind: 'code', text: code });
    else if (strong !== undefined) spans.push({ kind: 'strong', text: strong });
    else spans.push({ kind: 'link', text: words ?? address ?? '', href: href ?? address ?? '' });
  }
  return [...spans, { kind: 'text', text: line.slice(end) } as const].filter(({ text }) => text !== '');
}
