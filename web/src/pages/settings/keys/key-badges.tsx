import { Badge, type Tone } from '../../../parts/badge.tsx';
import { useNow } from '../../../parts/values.tsx';
import { type Key, keyState, SCOPES } from './key-form.ts';

const STATES: Readonly<Record<ReturnType<typeof keyState>, readonly [Tone, string]>> = {
  active: ['good', 'Active'],
  expiring: ['warn', 'Expires soon'],
  expired: ['bad', 'Expired'],
  revoked: ['neutral', 'Revoked'],
};

/** Whether a key can be used. */
export function KeyStateBadge({ of }: { readonly of: Key }) {
  const [tone, word] = STATES[keyState(of, useNow())];
  return (
    <Badge tone={tone} dot>
      {word}
    </Badge>
  );
}

/** What a key may do, in a few words. */
export function ScopesText({ scopes }: { readonly scopes: Key['scopes'] }) {
  const words = SCOPES.filter(({ scope }) => scopes.includes(scope)).map(({ label }) => label);
  return scopes.includes('admin') ? <Badge tone="accent">Admin</Badge> : words.join(', ');
}
