import { useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Card } from '../../parts/page.tsx';
import { Fetched } from '../../parts/states.tsx';
import { plainLines, Said, Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { sourceWords } from './aftermath.ts';

type Told = ResultOf<'messageFeedback'>['feedback'][number];

const KINDS: Readonly<Record<Told['kind'], string>> = {
  bounce: 'Bounce',
  delayed: 'Delay',
  confirmation: 'Confirmation',
  complaint: 'Complaint',
  not_spam: 'Not spam',
  auth_failure: 'Authentication failure',
  unsubscribe: 'Unsubscription',
  reply: 'Automatic reply',
  nothing: 'Something else',
};

/** What others told of a message, and how it came. Nothing is shown where nobody told anything. */
export function ToldByOthers({ id }: { readonly id: string }) {
  // Hints that name the message fetch it again, see `useStory`.
  const told = useCall('messageFeedback', { id });
  const isNothing = told.data === undefined ? told.error === null : told.data.feedback.length === 0;
  if (isNothing) return null;
  return (
    <Card title="What others told" note="Anybody may have written it. Kept for some days." flush>
      <Fetched query={told}>
        {({ feedback }) => (
          <ul className="divide-y divide-line">
            {feedback.map((piece) => (
              <Piece key={piece.id} told={piece} />
            ))}
          </ul>
        )}
      </Fetched>
    </Card>
  );
}

function Piece({ told: { id, at, source, kind, recipient } }: { readonly told: Told }) {
  const [open, setOpen] = useState(false);
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="cursor-pointer px-4 py-2.5 -outline-offset-2 hover:bg-sunken/60">
          <span className="inline-flex max-w-[calc(100%-1.5rem)] flex-wrap items-baseline gap-x-2 align-top">
            <span className="font-medium">{KINDS[kind]}</span>
            <span className="text-soft">told {sourceWords(source)}</span>
            {recipient !== null && <Said text={recipient} className="max-w-full text-soft" />}
            <span className="text-sm text-soft">
              <Time at={at} />
            </span>
          </span>
        </summary>
        {open && <Evidence id={id} />}
      </details>
    </li>
  );
}

/** The beginning of what came, as plain text. */
function Evidence({ id }: { readonly id: string }) {
  const evidence = useCall('feedbackText', { id });
  return (
    <div className="px-4 pb-4">
      <Fetched query={evidence} lines={6}>
        {({ contentType, text }) => (
          <figure className="min-w-0 rounded-md border border-line bg-paper">
            <figcaption className="flex items-center gap-2 border-b border-line py-1 pr-1 pl-3">
              <span className="caption min-w-0 flex-1 truncate">{contentType}</span>
              <CopyButton text={text} label="Copy evidence" />
            </figcaption>
            <pre
              // biome-ignore lint/a11y/noNoninteractiveTabindex: keys can scroll what is too long
              tabIndex={0}
              dir="ltr"
              className="max-h-120 overflow-auto p-3 font-mono text-sm leading-relaxed break-all whitespace-pre-wrap -outline-offset-2"
            >
              {plainLines(text)}
            </pre>
          </figure>
        )}
      </Fetched>
    </div>
  );
}
