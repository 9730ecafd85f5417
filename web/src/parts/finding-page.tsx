import { useQuery } from '@tanstack/react-query';
import { CodeBlock } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import type { Finding } from './findings-words.ts';
import { Line } from './line.tsx';
import { type Block, blocksOf } from './markdown.ts';
import { EmptyState, Fetched } from './states.tsx';
import { Said } from './values.tsx';

/** The documents on what preflight finds, each of which is fetched when it is wanted. */
const PAGES = import.meta.glob<string>(['../../../docs/preflight/*.md', '!**/README.md'], {
  query: '?raw',
  import: 'default',
});

/** Why a finding matters, and what to do: its document. */
export default function FindingPage({
  of: { code, detail },
  onClose,
}: {
  readonly of: Finding;
  readonly onClose: () => void;
}) {
  const load = PAGES[`../../../docs/preflight/${code}.md`];
  const page = useQuery<string, Error>({
    queryKey: ['preflight page', code],
    queryFn: async () => (await load?.()) ?? '',
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Dialog
      kind="drawer"
      onClose={onClose}
      title={<span className="font-mono">{code}</span>}
      description={<Said text={detail} lines="several" />}
    >
      <Fetched query={page} lines={8}>
        {(text) =>
          text === '' ? (
            <EmptyState title="There is no page on this">It comes from a newer version.</EmptyState>
          ) : (
            <div className="space-y-3">
              {blocksOf(text).map((block, place) => (
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
      // The title of the whole is the code.
      return block.level === 1 ? null : (
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
