import { CircleCheck, CircleDashed } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { faultsOf } from '../../faults.ts';
import { StatusBadge } from '../../parts/badge.tsx';
import { classNames } from '../../parts/class-names.ts';
import { Form } from '../../parts/form.tsx';
import { Card } from '../../parts/page.tsx';
import { NumberField, TextField } from '../../parts/text-field.tsx';
import { useAct } from '../../queries.ts';

type Explanation = ResultOf<'explainRoute'>;

/** Says where mail would go, and why, by the table in force. */
export function ExplainTab() {
  const explain = useAct('explainRoute', { quiet: true });
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <Card title="Where would this mail go?" note="By the table in force. Nothing is sent.">
        <Form
          act={explain}
          initial={NOTHING_ASKED}
          request={(form) => ({ query: explainQuery(form) })}
          sort={(error) => faultsOf(error, Object.keys(NOTHING_ASKED), fieldOf)}
          submit="Explain"
        >
          {({ field, faults }) => (
            <>
              <div className="grid gap-4 sm:grid-cols-2">
                <TextField
                  verbatim
                  label="From"
                  hint="The envelope's sender; <> for bounces."
                  placeholder="ann@example.com"
                  {...field('from')}
                />
                <TextField
                  verbatim
                  label="To"
                  hint="One recipient."
                  placeholder="bob@example.org"
                  {...field('to')}
                />
              </div>
              <details
                className="group"
                {...(Object.keys(faults).some((name) => !['from', 'to'].includes(name)) && { open: true })}
              >
                <summary className="rounded-sm font-medium text-soft hover:text-ink">
                  Tags, key, size, time and more
                </summary>
                <div className="mt-3 grid gap-4 sm:grid-cols-2">
                  <TextField verbatim label="Tags" hint="Separated by commas." {...field('tags')} />
                  <TextField verbatim label="API key" hint="Its name." {...field('key')} />
                  <TextField
                    verbatim
                    label="Named source"
                    hint="A name in listener.sources."
                    {...field('source')}
                  />
                  <TextField verbatim label="Source address" mono {...field('sourceAddress')} />
                  <NumberField label="Size" unit="bytes" {...field('sizeBytes')} />
                  <TextField label="At (UTC)" type="datetime-local" hint="Empty for now." {...field('at')} />
                </div>
              </details>
            </>
          )}
        </Form>
      </Card>
      <div aria-live="polite" className="min-w-0">
        {explain.data && <Answer explanation={explain.data} />}
      </div>
    </div>
  );
}

/** The field that a fault is about: the server knows tags one by one. */
function fieldOf(path: readonly string[]): string | null {
  const name = path.at(-1) ?? null;
  return name === 'tag' ? 'tags' : name;
}

function Answer({ explanation }: { readonly explanation: Explanation }) {
  const { to, rules, rule, group, relay, weighted, tableVersion } = explanation;
  return (
    <Card title={<span className="break-all">{to}</span>} note={`By version ${tableVersion} of the table.`}>
      <ol aria-label="Rules that were checked" className="space-y-2">
        {rules.map(({ rule: name, matched, unmet }) => (
          <LookedAt key={name} matched={matched}>
            <code className="font-mono text-sm">{name}</code>{' '}
            <span className={matched ? 'font-medium text-delivered' : 'text-soft'}>
              {matched ? 'matches' : `does not match: ${unmetWords(unmet ?? '')}`}
            </span>
          </LookedAt>
        ))}
        {rule === null && (
          <LookedAt matched>
            {rules.length === 0 ? 'There are no rules' : 'No rule matches'}: the default relay.
          </LookedAt>
        )}
        {rule !== null && !rules.some(({ matched }) => matched) && (
          <LookedAt matched>
            <code className="font-mono text-sm">{rule}</code> is built in, and is decided before any rule.
          </LookedAt>
        )}
      </ol>
      <h3 className="mt-4 mb-1.5 font-semibold">
        {weighted ? 'Drawn by weight, this time in this order' : 'It goes by'}
      </h3>
      <GroupList group={group} relay={relay} />
    </Card>
  );
}

function LookedAt({ matched, children }: { readonly matched: boolean; readonly children: ReactNode }) {
  const Icon = matched ? CircleCheck : CircleDashed;
  return (
    <li className="flex items-start gap-2">
      <Icon
        aria-hidden
        size={17}
        className={classNames('mt-0.5 shrink-0', matched ? 'text-delivered' : 'text-faint')}
      />
      <span className="min-w-0 break-words">{children}</span>
    </li>
  );
}

/** The relays of an explanation in their order, and how each is at this moment. */
function GroupList({ group, relay }: Pick<Explanation, 'group' | 'relay'>) {
  return (
    <ol className="divide-y divide-line rounded-md border border-line">
      {group.map(({ relay: name, fitness }, place) => (
        <li key={name} className="flex items-center gap-2 px-3 py-2">
          <span className="w-5 text-sm text-soft">{place + 1}</span>
          <code className="min-w-0 flex-1 truncate font-mono text-sm">{name}</code>
          <StatusBadge status={fitness} />
          {name === relay && <span className="text-sm font-medium text-accent">goes here now</span>}
        </li>
      ))}
    </ol>
  );
}

// What the explain box holds, and the parameters that it comes to.

/** What mail is described by: a box that nothing was written into yet. */
export const NOTHING_ASKED = {
  from: '',
  to: '',
  tags: '',
  key: '',
  source: '',
  sourceAddress: '',
  sizeBytes: null as number | null,
  /** In UTC, such as `2026-11-22T08:30`; empty for now. */
  at: '',
};

/** The parameters of `GET /api/v1/routes/explain`. */
export function explainQuery(form: typeof NOTHING_ASKED): [string, string][] {
  const { from, to, tags, key, source, sourceAddress, sizeBytes, at } = form;
  const given: readonly (readonly [string, string])[] = [
    ['from', from],
    ['to', to],
    ...tags.split(',').map((tag) => ['tag', tag] as const),
    ['key', key],
    ['source', source],
    ['sourceAddress', sourceAddress],
    ['sizeBytes', sizeBytes === null ? '' : String(sizeBytes)],
    ['at', at === '' ? '' : `${at}${at.length === 16 ? ':00' : ''}Z`],
  ];
  return given.flatMap(([name, value]): [string, string][] => {
    const text = value.trim();
    return text === '' ? [] : [[name, text]];
  });
}

/** Why a rule does not match, by the condition that does not hold. */
const UNMET: Readonly<Record<string, string>> = {
  sender: 'the sender is another',
  sender_domain: "the sender's domain is another",
  recipient: 'the recipient is another',
  recipient_domain: "the recipient's domain is another",
  tag: 'it has no such tag',
  key: 'another key submits it',
  source: 'another device submits it',
  source_cidr: 'it comes from elsewhere',
  min_bytes: 'it is too small',
  max_bytes: 'it is too large',
  time: 'it is not that time',
};

/** Why a rule does not match, in words. */
export function unmetWords(condition: string): string {
  return UNMET[condition] ?? `${condition} does not hold`;
}
