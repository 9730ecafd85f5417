import { useNavigate } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { plural } from '../../format.ts';
import { Banner } from '../../parts/banner.tsx';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Select } from '../../parts/choice.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Fetched } from '../../parts/states.tsx';
import { useAct, useCall } from '../../queries.ts';
import type { Story } from '../message/timeline.ts';

/** Sends a captured message on, by a relay of one's choice. Never mail of test keys: it says so instead. */
export function Release({ story }: { readonly story: Story }) {
  const [open, setOpen] = useState(false);
  const isTest = story.key?.test ?? false;
  if (!story.content.kept) return null;
  return (
    <>
      <Button small icon={Send} onClick={() => setOpen(true)}>
        Release
      </Button>
      <Dialog
        open={open}
        onClose={() => setOpen(false)}
        title={isTest ? 'Mail of a test key is never sent' : 'Send it on'}
        size="small"
      >
        {isTest ? (
          <div className="space-y-4">
            <p>
              It came with a test key, and what comes with one never leaves, whoever asks. To send it, submit
              it with a live key, or edit it and send it again from its page in Messages.
            </p>
            <div className="flex flex-wrap justify-end gap-2">
              <Button onClick={() => setOpen(false)}>Close</Button>
              <ButtonLink to="/messages/$id" params={{ id: story.record.id }} look="primary">
                Open in Messages
              </ButtonLink>
            </div>
          </div>
        ) : (
          <ReleaseForm story={story} onClose={() => setOpen(false)} />
        )}
      </Dialog>
    </>
  );
}

function ReleaseForm({ story, onClose }: { readonly story: Story; readonly onClose: () => void }) {
  const relays = useCall('relays', {}, { topics: ['relays'] });
  return (
    <Fetched query={relays} lines={3}>
      {(all) => {
        const names = all
          .filter(({ type, disabled }) => type !== 'inbox' && !disabled)
          .map(({ name }) => name);
        return names.length === 0 ? (
          <div className="space-y-4">
            <p>There is no relay that could send it yet.</p>
            <div className="flex justify-end">
              <ButtonLink to="/relays" look="primary">
                Add a relay
              </ButtonLink>
            </div>
          </div>
        ) : (
          <RelayForm names={names} story={story} onClose={onClose} />
        );
      }}
    </Fetched>
  );
}

function RelayForm({
  names,
  story,
  onClose,
}: {
  readonly names: readonly string[];
  readonly story: Story;
  readonly onClose: () => void;
}) {
  const { id, recipients } = story.record;
  const [relay, setRelay] = useState(names[0] ?? '');
  const navigate = useNavigate();
  const release = useAct('releaseCaptured', {
    changes: ['messages', 'queue', 'inbox'],
    done: 'Released, as a new message.',
    quiet: true,
    onDone: ({ id: next }) => {
      onClose();
      void navigate({ to: '/messages/$id', params: { id: next } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    release.mutate({ id, relay });
  };
  return (
    <form onSubmit={submit} className="space-y-4">
      <p>
        A new message with the same content goes to {plural(recipients.length, 'recipient')}, for real. The
        captured one stays here.
      </p>
      <Select
        label="Relay"
        choices={names.map((name) => ({ value: name, label: name }))}
        value={relay}
        onChange={setRelay}
      />
      {release.error && <Banner level="critical">{release.error.message}</Banner>}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>Keep it here</Button>
        <Button type="submit" look="primary" busy={release.isPending}>
          Send it
        </Button>
      </div>
    </form>
  );
}
