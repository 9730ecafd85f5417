import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { StatusBadge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Said } from '../../parts/said.tsx';
import { Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { refreshSession } from '../../session.tsx';
import { SendExamples } from './send-examples.tsx';

/** In the place of a secret that is shown no more. */
const YOUR_KEY = 'YOUR_API_KEY';

/** Shows how to send a message, and that message when it comes. */
export function ArrivalStep({
  secret,
  onDone,
}: {
  readonly secret: string | null;
  readonly onDone: () => void;
}) {
  const newest = useCall(
    'messages',
    { statuses: [], filter: {}, limit: 1, before: null },
    { topics: ['messages'], everyMs: 5_000 },
  );
  const message = newest.data?.messages[0];
  // What was there before does not count; ids rise with time.
  const before = useRef<string | null>(null);
  if (newest.data && before.current === null) before.current = message?.id ?? '';
  const arrived = message !== undefined && before.current !== null && message.id > before.current;
  useEffect(() => {
    if (arrived) refreshSession();
  }, [arrived]);
  return (
    <>
      <p>Paste this into a terminal{secret === null && ', with your key in its place'}:</p>
      <SendExamples secret={secret ?? YOUR_KEY} />
      <div aria-live="polite" className="overflow-hidden rounded-md border border-line bg-paper">
        {arrived ? (
          <Link
            to="/messages/$id"
            params={{ id: message.id }}
            className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-3 hover:bg-sunken"
          >
            <StatusBadge status={message.outcome ?? message.status} />
            <Said text={message.subject} none="No subject" className="min-w-0 flex-1 font-medium" />
            <span className="text-sm text-soft">
              from {message.from}, <Time at={message.createdAt} />
            </span>
          </Link>
        ) : (
          <div className="flex items-center gap-3 px-4 py-3 text-soft">
            <span
              aria-hidden
              className="size-2.5 shrink-0 animate-[pulse-dot_1.2s_ease-in-out_infinite] rounded-full bg-accent"
            />
            Waiting for the message. It appears here by itself.
          </div>
        )}
      </div>
      {arrived && (
        <Button look="primary" onClick={onDone}>
          It works: go on
        </Button>
      )}
    </>
  );
}
