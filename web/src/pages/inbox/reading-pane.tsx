import { Link, useNavigate } from '@tanstack/react-router';
import { ChevronLeft, Download, ExternalLink, KeyRound, Link2, Send } from 'lucide-react';
import { useState } from 'react';
import { plural } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Select } from '../../parts/choice.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { Bytes, Said, Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { IfMay } from '../../session.tsx';
import { downloadSource } from '../message/actions.tsx';
import { MessageContents } from '../message/contents.tsx';
import type { Story } from '../message/story.ts';
import { DeleteButton } from './delete-menu.tsx';
import { InBox, type InboxSearch } from './list.tsx';

/** A captured message, to be read. */
export function ReadingPane({
  id,
  search,
  onDeleted,
}: {
  readonly id: string;
  readonly search: InboxSearch;
  readonly onDeleted: () => void;
}) {
  const story = useCall('messageStory', { id }, { topics: ['inbox'] });
  return (
    <article aria-label="Message" className="min-w-0 p-4 sm:p-5">
      <Link
        to="/inbox"
        search={search}
        className="link mb-3 inline-flex items-center gap-0.5 rounded-sm lg:hidden"
      >
        <ChevronLeft aria-hidden size={15} /> Captured mail
      </Link>
      <Fetched query={story} lines={8}>
        {(data) => (
          <>
            <Head story={data} onDeleted={onDeleted} />
            {data.content.kept ? (
              <>
                <Found id={id} />
                <MessageContents id={id} />
              </>
            ) : (
              <EmptyState title="Its content is no longer kept">
                It was deleted, or is older than captured mail is kept.
              </EmptyState>
            )}
          </>
        )}
      </Fetched>
    </article>
  );
}

function Head({ story, onDeleted }: { readonly story: Story; readonly onDeleted: () => void }) {
  const { record, key } = story;
  const { id, subject, from, to, cc, bcc, createdAt, sizeBytes, box } = record;
  const people = [
    ['From', [from]],
    ['To', to],
    ['Cc', cc],
    ['Bcc', bcc],
  ] as const;
  return (
    <header className="mb-4">
      <h2 className="text-lg font-semibold">
        <Said text={subject} none="(no subject)" lines="several" />
      </h2>
      <dl className="mt-2 space-y-0.5">
        {people.map(
          ([name, list]) =>
            list.length > 0 && (
              <div key={name} className="grid grid-cols-[2.75rem_minmax(0,1fr)] gap-2">
                <dt className="text-soft">{name}</dt>
                <dd className="max-h-24 min-w-0 overflow-y-auto">
                  <Said text={list.slice(0, 100).join(', ')} lines="several" />
                </dd>
              </div>
            ),
        )}
      </dl>
      <div className="mt-2 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-soft">
        <Time at={createdAt} exact />
        <Bytes bytes={sizeBytes} />
        {key !== null && (
          <span className="inline-flex max-w-full min-w-0 items-center gap-1.5">
            <KeyRound aria-hidden size={13} className="shrink-0" />
            <Said text={key.name} className="min-w-0" />
            {key.test && <Badge tone="accent">Test key</Badge>}
          </span>
        )}
        {box !== null && <InBox box={box} className="max-w-full" />}
      </div>
      <div className="mt-3 flex flex-wrap gap-2">
        <IfMay role="operator">
          <Release story={story} />
        </IfMay>
        {story.content.kept && (
          <Button small icon={Download} label="Download .eml" onClick={() => downloadSource(id)} />
        )}
        <IfMay role="operator">
          {story.content.kept && <DeleteButton label="Delete" small ids={[id]} onDeleted={onDeleted} />}
        </IfMay>
        <Link to="/messages/$id" params={{ id }} className="link self-center rounded-sm text-sm">
          In Messages
        </Link>
      </div>
    </header>
  );
}

/** Codes and links that someone who tests wants to have at hand. */
function Found({ id }: { readonly id: string }) {
  const preview = useCall('messagePreview', { id });
  const codes = preview.data?.codes ?? [];
  const links = preview.data?.links ?? [];
  if (codes.length === 0 && links.length === 0) return null;
  return (
    <section aria-label="Found in it" className="mb-4 space-y-2 rounded-md border border-line bg-paper p-3">
      {codes.length > 0 && (
        <div className="flex flex-wrap items-center gap-2">
          <span className="caption w-12">{codes.length === 1 ? 'Code' : 'Codes'}</span>
          {codes.slice(0, 10).map((code) => (
            <span
              key={code}
              className="inline-flex max-w-full items-center rounded-md border border-line bg-surface pl-2.5"
            >
              <Said text={code} mono className="min-w-0 font-semibold tracking-wide" />
              <CopyButton text={code} label={`Copy ${code}`} />
            </span>
          ))}
        </div>
      )}
      {links.length > 0 && (
        <div className="flex gap-2">
          <span className="caption w-12 shrink-0 pt-1">{links.length === 1 ? 'Link' : 'Links'}</span>
          <ul className="max-h-36 min-w-0 flex-1 overflow-y-auto">
            {links.map(({ url, text }, index) => (
              <FoundLink
                // biome-ignore lint/suspicious/noArrayIndexKey: one address may be there several times
                key={index}
                url={url}
                text={text}
              />
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

function FoundLink({ url, text }: { readonly url: string; readonly text: string }) {
  const target = webAddress(url);
  return (
    <li className="flex min-w-0 items-center gap-1">
      <Link2 aria-hidden size={13} className="shrink-0 text-soft" />
      <Said text={url} mono className="min-w-0" />
      {text !== '' && text !== url && <Said text={text} className="min-w-0 shrink-3 text-sm text-soft" />}
      <CopyButton text={url} label="Copy link" />
      {target !== null && (
        <a
          href={target}
          target="_blank"
          rel="noopener noreferrer nofollow"
          aria-label={`Open ${url} in a new tab`}
          className="flex size-7.5 shrink-0 items-center justify-center rounded-md text-soft hover:bg-sunken hover:text-ink"
        >
          <ExternalLink aria-hidden size={14} />
        </a>
      )}
    </li>
  );
}

/** The address as a browser may open it: of the web, and nothing else; null for what is none. */
export function webAddress(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : null;
}

/** Sends a captured message on, by a relay of one's choice. Never mail of test keys: it says so instead. */
function Release({ story }: { readonly story: Story }) {
  const [open, setOpen] = useState(false);
  const isTest = story.key?.test ?? false;
  if (!story.content.kept) return null;
  return (
    <>
      <Button small icon={Send} label="Release" onClick={() => setOpen(true)} />
      <Dialog
        open={open}
        onClose={() => setOpen(false)}
        title={isTest ? 'Mail of a test key is never sent' : 'Send it on'}
        size="small"
      >
        {isTest ? (
          <div className="space-y-4">
            <p>
              It came with a test key, and such mail never leaves. To send it, submit it with a live key, or
              edit it and send it again from its page in Messages.
            </p>
            <div className="flex flex-wrap justify-end gap-2">
              <Button label="Close" onClick={() => setOpen(false)} />
              <ButtonLink
                label="Open in Messages"
                to="/messages/$id"
                params={{ id: story.record.id }}
                look="primary"
              />
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
  const { id, recipients } = story.record;
  const relays = useCall('relays', {}, { topics: ['relays'] });
  const navigate = useNavigate();
  return (
    <Fetched query={relays} lines={3}>
      {(all) => {
        const names = all
          .filter(({ type, disabled }) => type !== 'inbox' && !disabled)
          .map(({ name }) => name);
        const [first] = names;
        if (first === undefined)
          return (
            <div className="space-y-4">
              <p>There is no relay that could send it yet.</p>
              <div className="flex justify-end">
                <ButtonLink label="Add a relay" to="/relays" look="primary" />
              </div>
            </div>
          );
        return (
          <ActionForm
            operation="releaseCaptured"
            initial={{ relay: first }}
            request={({ relay }) => ({ id, relay })}
            done="Released, as a new message."
            onDone={(released) => {
              onClose();
              void navigate({ to: '/messages/$id', params: { id: released.id } });
            }}
            submit="Send it"
            cancel="Keep it here"
            onClose={onClose}
          >
            {({ field }) => (
              <>
                <p>
                  A new message with the same content goes to {plural(recipients.length, 'recipient')}, for
                  real. The captured one stays here.
                </p>
                <Select label="Relay" choices={names} {...field('relay')} />
              </>
            )}
          </ActionForm>
        );
      }}
    </Fetched>
  );
}
