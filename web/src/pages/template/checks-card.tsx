import { Findings } from '../../parts/findings.tsx';
import { countWords, type Finding, type Place, placeOf } from '../../parts/findings-words.ts';
import { Card } from '../../parts/page.tsx';
import { ErrorState, LoadingState } from '../../parts/states.tsx';
import { useCall } from '../../queries.ts';
import type { Draft } from './draft.ts';
import { lineOf } from './line-of.ts';
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
  const findings = checks.data?.findings.map((finding) => inTemplate(finding, draft, settled));
  const goTo = (place: Place) => {
    const isText = place.part === '/html' || (place.part === '/text' && draft.text !== '');
    return isText || place.part === '/subject' ? () => onGo(place) : null;
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

/** What was found in a line of the mail, in the line of the template that it comes from; without a line where none is known. */
function inTemplate(finding: Finding, { html, text }: Draft, mail: RenderedDraft['mail']): Finding {
  const { part, line } = placeOf(finding.where);
  if (line === null) return finding;
  const [template, made] = part === '/html' ? [html, mail?.html] : [text, mail?.text];
  const own = lineOf(template, made ?? '', line);
  return { ...finding, where: own === null ? part : `${part}#L${own}` };
}

function noteOf(findings: readonly Finding[]): string {
  return findings.length === 0 ? 'Of the mail made with the sample.' : `${countWords(findings)}.`;
}
