import { PlugZap, Search, Split } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { steadily } from '../../connection.ts';
import { plural } from '../../format.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Said, Time, useNow } from '../../parts/values.tsx';
import { IfMay } from '../../session.tsx';
import { replyText } from '../message/story.ts';
import type { RelayView } from './relay-menu.tsx';

/** Why a relay rests, or is being tested. */
type Rest = NonNullable<RelayView['rest']>;

const RestDialog = lazy(steadily(() => import('./rest-dialog.tsx')));

/** What the next hop said for which a relay rests; in short where it said nothing. */
export function restReply({ reply, cause }: Pick<Rest, 'reply' | 'cause'>): string {
  const said = reply === null ? '' : replyText(reply.code, reply.enhancedCode, reply.reply);
  return said || (cause ?? 'Its next hop fails.');
}

/** Why a relay rests: the reply, since when, how many wait, and when it is tried again. */
export function RestWords({ rest, waiting }: { readonly rest: Rest; readonly waiting: number }) {
  const { since, until } = rest;
  return (
    <>
      <Said text={restReply(rest)} lines="several" className="block" />
      <span className="block text-sm text-soft">
        {since !== null && (
          <>
            Began <Time at={since} />.{' '}
          </>
        )}
        Waiting: {plural(waiting, 'recipient')}. <NextTry until={until} />.
      </span>
    </>
  );
}

function NextTry({ until }: Pick<Rest, 'until'>) {
  const now = useNow();
  if (until === null || Date.parse(until) <= now) return <>It is being tested</>;
  return (
    <>
      Next try <Time at={until} ahead />
    </>
  );
}

/** What is asked about a relay that rests. */
interface Asked {
  readonly relay: string;
  readonly act: 'test' | 'reroute';
}

/** Opens what {@link RestActs} ask for. Its dialog stays when the relay recovers meanwhile, and is drawn by the caller. */
export function useRestDialog(): { readonly open: (asked: Asked) => void; readonly dialog: ReactNode } {
  const [asked, setAsked] = useState<Asked | null>(null);
  const dialog = asked && (
    <Suspense>
      <RestDialog {...asked} onClose={() => setAsked(null)} />
    </Suspense>
  );
  return { open: setAsked, dialog };
}

/** What can be done about a relay that rests: test it, send what waits elsewhere, look at what waits. */
export function RestActs({ relay, open }: { readonly relay: string; readonly open: (asked: Asked) => void }) {
  return (
    <div className="relative z-1 flex flex-wrap gap-2">
      <IfMay role="admin">
        <Button
          small
          icon={PlugZap}
          label="Test"
          aria-label={`Test ${relay}`}
          onClick={() => open({ relay, act: 'test' })}
        />
      </IfMay>
      <IfMay role="operator">
        <Button
          small
          icon={Split}
          label="Reroute"
          aria-label={`Reroute what waits at ${relay}`}
          onClick={() => open({ relay, act: 'reroute' })}
        />
      </IfMay>
      <ButtonLink
        small
        icon={Search}
        label="Show"
        to="/messages"
        search={{ q: `relay:${relay} status:queued status:retrying` }}
      >
        <span className="sr-only"> what waits at {relay}</span>
      </ButtonLink>
    </div>
  );
}
