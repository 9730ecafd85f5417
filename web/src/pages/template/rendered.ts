import { useEffect, useRef, useState } from 'react';
import type { ApiError } from '../../api.ts';
import { useCall } from '../../queries.ts';
import { type Draft, type Rendered, readSample, textsOf, type Values } from './draft.ts';

/** So long nothing is typed before the preview follows. */
const SETTLE_MS = 250;

/** What a draft says with its sample. */
export interface RenderedDraft {
  /** The latest that could be made whole; null: none yet. */
  readonly mail: Rendered | null;
  /** What keeps the draft from being made; empty where `mail` is what it says. */
  readonly faults: Rendered['faults'];
  /** Names that the sample lacks. */
  readonly missing: readonly string[];
  /** What was typed last is not in it yet. */
  readonly isWaiting: boolean;
  readonly error: ApiError | null;
  readonly retry: () => void;
}

/** Makes a draft with its sample, a moment after it was changed. While the sample is no JSON its latest values hold. */
export function useRendered(draft: Draft): RenderedDraft {
  const { values } = readSample(draft.sample);
  const latest = useRef<Values>({});
  if (values !== null) latest.current = values;
  const request = JSON.stringify({ ...textsOf(draft), variables: latest.current });
  const settled = useSettled(request, SETTLE_MS);
  const asked: ReturnType<typeof textsOf> & { readonly variables: Values } = JSON.parse(settled);
  const query = useCall('previewTemplate', { ...asked, variables: { ...asked.variables } }, { keep: true });
  const { data, error, isPlaceholderData } = query;
  const mail = useRef<Rendered>(null);
  if (data?.faults.length === 0) mail.current = data;
  return {
    mail: mail.current,
    faults: data?.faults ?? [],
    missing: data?.missing ?? [],
    isWaiting: settled !== request || isPlaceholderData || data === undefined,
    error,
    retry: () => void query.refetch(),
  };
}

/** A value once it has not changed for a while. */
export function useSettled<Value>(value: Value, ms: number): Value {
  const [settled, settle] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => settle(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
