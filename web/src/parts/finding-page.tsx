import { useQuery } from '@tanstack/react-query';
import { CodeBlock } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { type Block, blocksOf, type Span, spansOf } from './markdown.ts';
import { EmptyState, Fetched } from './states.tsx';

/** The documents on what preflight finds, each of which is fetched when it is wanted. */
const PAGES = import.meta.glob<string>('../../../docs/preflight/*.md', { query: '?raw', import: 'default' });

/** Why a finding matters, and what to do: its document. */
export default function FindingPage({
  code,
  onClose,
}: {
  readonly code: string;
  readonly onClose: () => void;
}) {
  const load = PAGES[`../../../docs/preflight/${code}.md`];
  const page = useQuery<string, Error>({
    queryKey: ['preflight page', code],
    queryFn: async () => (await load?.()) ?? '',
    staleTime: Number.POSITIVE_INFINITY,
  });
  const blocks = blocksOf(page.data ?? '');
  const [first] = blocks;
  const title = first?.kind === 'heading' ? first.text : code;
  return (
    <Dialog kind="drawer" onClose={onClose} title={<Line text={title} />} description={<Code>{code}</Code>}>
      <Fetched query={page} lines={8}>
        {(text) =>
          text === '' ? (
            <EmptyState title="There is no page on this">It is of a newer version.</EmptyState>
          ) : (
            <div className="space-y-3">
              {blocks.slice(first?.kind === 'heading' ? 1 : 0).map((block, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a document does not change
                <Shown key={place} block={block} />
              ))}
            </div>
          )
        }
      </Fetched>
    </Dialog>
  );
}

function Shown({ block }: { readonly block: Block }) {
  switch (block.kind) {
    case 'heading':
      return (
        <h3 className="pt-2 font-semibold">
          <Line text={block.text} />
        </h3>
      );
    case 'paragraph':
      return (
        <p>
          <Line text={block.text} />
        </p>
      );
    case 'list':
      return (
        <ul className="list-disc space-y-1 pl-5">
          {block.items.map((item, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a document does not change
            <li key={place}>
              <Line text={item} />
            </li>
          ))}
        </ul>
      );
    case 'code':
      return <CodeBlock code={block.text} wrap />;
  }
}

function Line({ text }: { readonly text: string }) {
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
