import { Findings } from '../../parts/findings.tsx';
import { countWords, type Finding, type Place } from '../../parts/findings-words.ts';
import { Card } from '../../parts/page.tsx';
import { ErrorState, LoadingState } from '../../parts/states.tsx';
import { useCall } from '../../queries.ts';
import type { Draft } from './draft.ts';
import { type RenderedDraft, useSettled } from './rendered.ts';

/** So long nothing changes before it is checked. */
const SETTLE_MS = 400;

/** What preflight finds in the mail that the sample makes. */
export function ChecksCard({
  rendered,
  draft,
  onGo,
}: {
  readonly rendered: RenderedDraft;
  readonly draft: Draft;
  readonly onGo: (place: Place) => void;
}) {
  const { mail } = rendered;
  const settled = useSettled(mail, SETTLE_MS);
  const checks = useCall(
    'preflight',
    {
      draft: {
        from: '',
        subject: settled?.subject ?? '',
        html: settled?.html ?? null,
        text: settled?.text ?? null,
      },
    },
    { keep: true, enabled: settled !== null },
  );
  const findings = checks.data?.findings;
  // A line of the mail is that of the template where nothing repeats: then both have as many.
  const isLineByLine = settled?.html?.split('\n').length === draft.html.split('\n').length;
  const goTo = (place: Place) => {
    if (!['/subject', '/html', '/text'].includes(place.part)) return null;
    if (place.part === '/text' && draft.text === '') return null;
    if (place.line !== null && !(place.part === '/html' && isLineByLine)) return null;
    return () => onGo(place);
  };
  return (
    <Card title="Checks" note={findings && noteOf(findings)}>
      {findings ? (
        <Findings findings={findings} onGo={goTo} />
      ) : checks.error ? (
        <ErrorState error={checks.error} onRetry={() => void checks.refetch()} />
      ) : (
        <LoadingState lines={3} />
      )}
    </Card>
  );
}

function noteOf(findings: readonly Finding[]): string {
  return findings.length === 0 ? 'Of the mail that the sample makes.' : `${countWords(findings)}.`;
}
