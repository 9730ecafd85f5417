import { useEffect } from 'react';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { LoadingState } from '../../parts/states.tsx';
import { useAct } from '../../queries.ts';
import { RehearsalResult } from './rehearsal.tsx';
import { changesOf, type Rule, type RuleChange } from './rules.ts';

/** With how many messages a table is rehearsed. */
const REHEARSED = 1000;

const TONES: Readonly<Record<RuleChange['kind'], Tone>> = {
  added: 'good',
  removed: 'bad',
  changed: 'warn',
  moved: 'busy',
};

/** Rehearses a changed table with the mail of late, and puts it into force once that was looked at. */
export function PublishDialog({
  before,
  after,
  title,
  onPublish,
  onClose,
  onRefused,
  isPublishing,
  problem,
}: {
  readonly before: readonly Rule[];
  readonly after: readonly Rule[];
  readonly title: string;
  readonly onPublish: () => void;
  readonly onClose: () => void;
  /** The rules cannot be read. */
  readonly onRefused: (error: Error) => void;
  readonly isPublishing: boolean;
  /** Why they were not published. */
  readonly problem: string | null;
}) {
  const rehearse = useAct('rehearseRoutes', { quiet: true });
  const { mutate } = rehearse;
  // Once, for the rules that the dialog was opened with.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    mutate({ routes: after, last: REHEARSED }, { onError: onRefused });
  }, []);
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      description="Mail that is accepted from then on goes by it, and what waits is decided anew."
      footer={
        <>
          <Button onClick={onClose}>Go on editing</Button>
          <Button look="primary" busy={isPublishing} disabled={!rehearse.isSuccess} onClick={onPublish}>
            Publish
          </Button>
        </>
      }
    >
      <div className="space-y-5">
        <section>
          <h3 className="mb-2 font-semibold">What changes</h3>
          <ul className="space-y-1">
            {changesOf(before, after).map(({ name, kind }) => (
              <li key={`${kind} ${name}`} className="flex items-center gap-2">
                <span className="w-20">
                  <Badge tone={TONES[kind]}>{kind}</Badge>
                </span>
                <code className="min-w-0 font-mono text-sm break-all">{name}</code>
              </li>
            ))}
          </ul>
        </section>
        <section aria-live="polite">
          <h3 className="mb-2 font-semibold">Rehearsal</h3>
          {rehearse.data ? (
            <RehearsalResult rehearsal={rehearse.data} />
          ) : rehearse.error ? (
            <FormError>{rehearse.error.message}</FormError>
          ) : (
            <LoadingState lines={2} label="Rehearsing" />
          )}
        </section>
        <FormError>{problem}</FormError>
      </div>
    </Dialog>
  );
}
