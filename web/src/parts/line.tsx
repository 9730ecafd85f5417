import { type Span, spansOf } from './markdown.ts';

/** A line of a document of our own, with the code, links and strong words in it. */
export function Line({ text }: { readonly text: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: a document does not change
  return spansOf(text).map((span, place) => <Part key={place} span={span} />);
}

function Part({ span }: { readonly span: Span }) {
  if (span.kind === 'code') return <Code>{span.text}</Code>;
  if (span.kind === 'strong') return <strong className="font-semibold">{span.text}</strong>;
  // Other documents are not here.
  if (span.kind === 'link' && span.href.startsWith('https://'))
    return (
      <a href={span.href} target="_blank" rel="noopener noreferrer" className="link break-words">
        {span.text}
      </a>
    );
  return span.text;
}

function Code({ children }: { readonly children: string }) {
  return (
    <code className="rounded-xs bg-sunken px-1 font-mono text-sm [overflow-wrap:anywhere]">{children}</code>
  );
}
