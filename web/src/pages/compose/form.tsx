import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { ListField, Select } from '../../parts/choice.tsx';
import { Textarea, TextField } from '../../parts/text-field.tsx';
import { Attachments } from './attachments.tsx';
import type { Draft, DraftField } from './draft.ts';

/** The boxes of a message that is written. */
export function ComposeForm({
  draft,
  faults,
  onChange,
}: {
  readonly draft: Draft;
  readonly faults: Partial<Record<DraftField, string>>;
  readonly onChange: (draft: Draft) => void;
}) {
  const [copies, setCopies] = useState(draft.cc !== '' || draft.bcc !== '');
  const put =
    <Name extends DraftField>(name: Name) =>
    (value: Draft[Name]) =>
      onChange({ ...draft, [name]: value });
  const box = (name: 'from' | 'to' | 'cc' | 'bcc' | 'subject' | 'sendAt') => ({
    value: draft[name],
    onChange: put(name),
    error: faults[name],
  });
  return (
    <div className="space-y-4">
      <TextField
        label="From"
        {...box('from')}
        placeholder="Shop <shop@example.com>"
        autoComplete="off"
        spellCheck={false}
      />
      <div>
        <TextField
          label="To"
          {...box('to')}
          placeholder={'bob@example.org, "Doe, Jane" <jane@example.org>'}
          autoComplete="off"
          spellCheck={false}
        />
        {!copies && (
          <Button small look="quiet" className="mt-1 -ml-2" onClick={() => setCopies(true)}>
            Add Cc and Bcc
          </Button>
        )}
      </div>
      {copies && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField label="Cc" {...box('cc')} autoComplete="off" spellCheck={false} />
          <TextField
            label="Bcc"
            {...box('bcc')}
            hint="Shown to nobody."
            autoComplete="off"
            spellCheck={false}
          />
        </div>
      )}
      <TextField label="Subject" {...box('subject')} autoComplete="off" />
      <Bodies draft={draft} faults={faults} onChange={onChange} />
      <Attachments files={draft.attachments} error={faults.attachments} onChange={put('attachments')} />
      <More draft={draft} faults={faults} onChange={onChange} />
    </div>
  );
}

function Bodies({ draft, faults, onChange }: Parameters<typeof ComposeForm>[0]) {
  const [html, setHtml] = useState(draft.html !== '');
  return (
    <>
      <Textarea
        label="Text"
        rows={8}
        value={draft.text}
        onChange={(text) => onChange({ ...draft, text })}
        error={faults.text}
      />
      {html || faults.html !== undefined ? (
        <Textarea
          label="HTML"
          mono
          rows={8}
          spellCheck={false}
          value={draft.html}
          onChange={(next) => onChange({ ...draft, html: next })}
          error={faults.html}
          hint="Shown in the place of the text by programs that can."
        />
      ) : (
        <Button small look="quiet" className="-ml-2" onClick={() => setHtml(true)}>
          Add HTML
        </Button>
      )}
    </>
  );
}

function More({ draft, faults, onChange }: Parameters<typeof ComposeForm>[0]) {
  const isOpen =
    draft.headers !== '' ||
    draft.tags.length > 0 ||
    draft.sendAt !== '' ||
    draft.priority !== 'normal' ||
    ['headers', 'tags', 'sendAt', 'priority'].some((name) => name in faults);
  return (
    <details open={isOpen} className="group rounded-md border border-line">
      <summary className="flex list-none items-center gap-1.5 rounded-md px-3 py-2 font-medium hover:bg-sunken">
        <ChevronRight aria-hidden size={15} className="transition-transform group-open:rotate-90" />
        Headers, tags, time, priority
      </summary>
      <div className="space-y-4 border-t border-line p-3">
        <Textarea
          label="Headers"
          mono
          rows={3}
          spellCheck={false}
          value={draft.headers}
          onChange={(headers) => onChange({ ...draft, headers })}
          error={faults.headers}
          placeholder={'Reply-To: help@example.com\nX-Order: 1001'}
          hint="One a line."
        />
        <ListField
          label="Tags"
          value={draft.tags}
          onChange={(tags) => onChange({ ...draft, tags })}
          error={faults.tags}
          hint="To find it by; never in the mail."
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label="Not before"
            value={draft.sendAt}
            onChange={(sendAt) => onChange({ ...draft, sendAt })}
            error={faults.sendAt}
            placeholder="2026-12-24T08:00:00Z"
            hint="Empty: now. At most 30 days ahead."
            spellCheck={false}
          />
          <Select
            label="Priority"
            choices={[
              { value: 'high', label: 'High' },
              { value: 'normal', label: 'Normal' },
              { value: 'bulk', label: 'Bulk' },
            ]}
            value={draft.priority}
            onChange={(priority) => onChange({ ...draft, priority })}
            error={faults.priority}
          />
        </div>
      </div>
    </details>
  );
}
