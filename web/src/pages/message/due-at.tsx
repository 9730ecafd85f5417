import { Time, useNow } from '../../parts/values.tsx';

/** When something is to happen; what should have begun already is due. */
export function DueAt({ at }: { readonly at: string }) {
  const now = useNow();
  return Date.parse(at) > now ? <Time at={at} ahead /> : <span title={at}>due</span>;
}
