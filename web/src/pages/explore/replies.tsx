import { Link } from '@tanstack/react-router';
import { MessageSquareOff } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatCount } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { Card } from '../../parts/page.tsx';
import { EmptyState } from '../../parts/states.tsx';
import { Said } from '../../parts/values.tsx';

type Reply = ResultOf<'traffic'>['replies'][number];

const SHOWN = 20;

/** Why receivers took mail later, not at all, or gave it back: the most frequent first. */
export function Replies({ replies }: { readonly replies: readonly Reply[] }) {
  const more = replies.length - SHOWN;
  return (
    <Card
      flush
      title="What receivers replied"
      note="Replies that differ only in addresses, numbers, ids and hosts are one."
    >
      {replies.length === 0 ? (
        <EmptyState icon={MessageSquareOff} title="Nothing was refused or deferred in this time" />
      ) : (
        <ol data-list className="divide-y divide-line">
          {replies.slice(0, SHOWN).map((reply) => (
            <ReplyRow key={reply.group} reply={reply} />
          ))}
        </ol>
      )}
      {more > 0 && (
        <p className="border-t border-line px-4 py-2.5 text-sm text-soft">and {formatCount(more)} more</p>
      )}
    </Card>
  );
}

const EFFECTS = [
  { effect: 'failed', tone: 'bad', words: 'failed' },
  { effect: 'bounced', tone: 'bad', words: 'came back' },
  { effect: 'deferred', tone: 'warn', words: 'deferred' },
] as const;

function ReplyRow({ reply }: { readonly reply: Reply }) {
  const { group, example, messageId } = reply;
  return (
    <li
      data-row=""
      tabIndex={-1}
      className="grid gap-x-4 gap-y-1 px-4 py-2.5 sm:grid-cols-[minmax(0,1fr)_auto]"
    >
      <div className="min-w-0">
        <Said
          text={group}
          none="Other replies, too many different ones to be told apart"
          lines="several"
          className="font-medium"
        />
        {messageId !== null && (
          <div className="flex min-w-0 items-baseline gap-2 text-sm text-soft">
            {example !== group && <Said text={example} className="min-w-0" />}
            <Link to="/messages/$id" params={{ id: messageId }} className="link shrink-0">
              Example
            </Link>
          </div>
        )}
      </div>
      <div className="flex flex-wrap items-start gap-1.5">
        {EFFECTS.map(
          ({ effect, tone, words }) =>
            reply[effect] > 0 && (
              <Badge key={effect} tone={tone}>
                {formatCount(reply[effect])} {words}
              </Badge>
            ),
        )}
      </div>
    </li>
  );
}
