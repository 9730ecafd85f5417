import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { Banner, Fetched } from '../../parts/states.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { useCall } from '../../queries.ts';
import { type Rendered, readSample, type Template, textsOf } from './draft.ts';
import type { TemplateInHand } from './in-hand.ts';

const TITLE = 'Send a test';

/** Sends what the preview shows, as any message: routes decide where it goes. */
export function TestDialog({
  template,
  hand,
  onClose,
}: {
  readonly template: Template;
  readonly hand: TemplateInHand;
  readonly onClose: () => void;
}) {
  const { values } = readSample(hand.draft.sample);
  const variables = values ?? {};
  const rendered = useCall('previewTemplate', { ...textsOf(hand.draft), variables });
  const isWhole = values !== null && rendered.data?.faults.length === 0 && rendered.data.missing.length === 0;
  const [sent, setSent] = useState<string | null>(null);
  if (sent !== null) return <Sent id={sent} onClose={onClose} />;
  if (rendered.data && isWhole)
    return (
      <TestForm
        content={
          hand.isDirty || template.version !== template.publishedVersion
            ? contentOf(rendered.data)
            : { template: template.alias, variables }
        }
        note={
          hand.isDirty
            ? 'As the preview shows it, with what is not saved yet.'
            : `Version ${template.version}, with the values of its sample.`
        }
        onSent={setSent}
        onClose={onClose}
      />
    );
  return (
    <Dialog size="small" title={TITLE} onClose={onClose} footer={<Button label="Close" onClick={onClose} />}>
      <Fetched query={rendered} lines={3}>
        {() => (
          <Banner level="warning" title="It cannot be sent like this">
            First correct what the preview reports: a message with a fault, or without a value, is refused.
          </Banner>
        )}
      </Fetched>
    </Dialog>
  );
}

function TestForm({
  content,
  note,
  onSent,
  onClose,
}: {
  /** What the message says, in the API's JSON. */
  readonly content: Readonly<Record<string, unknown>>;
  readonly note: string;
  readonly onSent: (id: string) => void;
  readonly onClose: () => void;
}) {
  const [first] = useState(readPeople);
  return (
    <ActionForm
      operation="submit"
      sheet={{ title: TITLE, size: 'small', description: note }}
      initial={first}
      check={({ from, to }) => ({
        from: from.trim() === '' ? 'Enter a sender.' : null,
        to: to.trim() === '' ? 'Enter a recipient.' : null,
      })}
      request={(people) => {
        keepPeople(people);
        return { message: { ...people, ...content } };
      }}
      onDone={({ id }) => onSent(id)}
      submit="Send"
      onClose={onClose}
      noValidate
    >
      {({ field }) => (
        <>
          <TextField label="From" placeholder="Shop <shop@example.com>" verbatim {...field('from')} />
          <TextField label="To" placeholder="you@example.com" verbatim {...field('to')} />
        </>
      )}
    </ActionForm>
  );
}

/** What was made of a template: what is not there is left out. */
function contentOf({ subject, html, text }: Rendered): Readonly<Record<string, unknown>> {
  return { subject, ...(html !== null && { html }), ...(text !== null && { text }) };
}

function Sent({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  return (
    <Dialog size="small" title={TITLE} onClose={onClose} footer={<Button label="Done" onClick={onClose} />}>
      <p role="status">
        It is accepted.{' '}
        <Link to="/messages/$id" params={{ id }} target="_blank" className="link">
          See what becomes of it
        </Link>{' '}
        in a new tab.
      </p>
    </Dialog>
  );
}

/** Under which the browser keeps who tests are from and to, for the next one. */
const PEOPLE = 'waybill.template-test';

function readPeople(): { readonly from: string; readonly to: string } {
  try {
    const [from, to]: unknown[] = JSON.parse(localStorage.getItem(PEOPLE) ?? '[]');
    if (typeof from === 'string' && typeof to === 'string') return { from, to };
  } catch {
    // Without storage they are typed again.
  }
  return { from: '', to: '' };
}

function keepPeople({ from, to }: ReturnType<typeof readPeople>): void {
  try {
    localStorage.setItem(PEOPLE, JSON.stringify([from, to]));
  } catch {
    // As above.
  }
}
