import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { ListField, Select } from '../../parts/choice.tsx';
import { Fold } from '../../parts/fold.tsx';
import type { FormInHand } from '../../parts/form.tsx';
import { Textarea, TextField } from '../../parts/text-field.tsx';
import { Attachments } from './attachments.tsx';
import type { Draft } from './draft.ts';

type Props = Pick<FormInHand<Draft>, 'values' | 'field' | 'faults'>;

/** The boxes of a message that is written. */
export function ComposeForm(props: Props) {
  const { values, field } = props;
  const [copies, setCopies] = useState(values.cc !== '' || values.bcc !== '');
  const attachments = field('attachments');
  return (
    <div className="space-y-4">
      <TextField label="From" {...field('from')} placeholder="Shop <shop@example.com>" verbatim />
      <div>
        <TextField
          label="To"
          {...field('to')}
          placeholder={'bob@example.org, "Doe, Jane" <jane@example.org>'}
          verbatim
        />
        {!copies && (
          <Button
            small
            look="quiet"
            label="Add Cc and Bcc"
            className="mt-1 -ml-2"
            onClick={() => setCopies(true)}
          />
        )}
      </div>
      {copies && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField label="Cc" {...field('cc')} verbatim />
          <TextField label="Bcc" {...field('bcc')} hint="Shown to nobody." verbatim />
        </div>
      )}
      <TextField label="Subject" {...field('subject')} autoComplete="off" />
      <Bodies {...props} />
      <Attachments files={attachments.value} error={attachments.error} onChange={attachments.onChange} />
      <More {...props} />
    </div>
  );
}

function Bodies({ values, field, faults }: Props) {
  const [html, setHtml] = useState(values.html !== '');
  return (
    <>
      <Textarea label="Text" rows={8} {...field('text')} />
      {html || faults['html'] !== undefined ? (
        <Textarea
          label="HTML"
          mono
          rows={8}
          spellCheck={false}
          {...field('html')}
          hint="Shown in the place of the text by programs that can."
        />
      ) : (
        <Button small look="quiet" label="Add HTML" className="-ml-2" onClick={() => setHtml(true)} />
      )}
    </>
  );
}

function More({ values, field, faults }: Props) {
  const isOpen =
    values.headers !== '' ||
    values.tags.length > 0 ||
    values.sendAt !== '' ||
    values.priority !== 'normal' ||
    ['headers', 'tags', 'sendAt', 'priority'].some((name) => name in faults);
  return (
    <Fold title="Headers, tags, time, priority" open={isOpen}>
      <div className="space-y-4">
        <Textarea
          label="Headers"
          mono
          rows={3}
          spellCheck={false}
          {...field('headers')}
          placeholder={'Reply-To: help@example.com\nX-Order: 1001'}
          hint="One a line."
        />
        <ListField label="Tags" {...field('tags')} hint="To find it by; never in the mail." />
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label="Not before"
            {...field('sendAt')}
            placeholder="2026-12-24T08:00:00Z"
            hint="Empty: now. At most 30 days ahead."
            verbatim
          />
          <Select
            label="Priority"
            choices={[
              { value: 'high', label: 'High' },
              { value: 'normal', label: 'Normal' },
              { value: 'bulk', label: 'Bulk' },
            ]}
            {...field('priority')}
          />
        </div>
      </div>
    </Fold>
  );
}
