import { useQuery } from '@tanstack/react-query';
import { ImageDown, ImageOff, Monitor, Paperclip, Smartphone } from 'lucide-react';
import { useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { type Address, useAddress } from '../../address.ts';
import { download } from '../../api.ts';
import { formatBytes, plural } from '../../format.ts';
import { ConfirmDialog } from '../../parts/ask.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button, DownloadLink } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Findings } from '../../parts/findings.tsx';
import { Banner, EmptyState, Fetched } from '../../parts/states.tsx';
import { type Tab, Tabs } from '../../parts/tabs.tsx';
import { Segments } from '../../parts/toolbar.tsx';
import { Bytes, plainLines, plainText, Said } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { HtmlFrame, SchemeChoice } from './html-frame.tsx';

/** What a message says; nothing of it is to be trusted. */
export type Preview = ResultOf<'messagePreview'>;

/** What of a message's contents is shown; `phone` is the HTML on a narrow screen. */
type ContentsView = NonNullable<Address['view']>;

/** What a message says, in several ways of looking at it. Which of them is kept in the page's address. */
export function MessageContents({ id }: { readonly id: string }) {
  const preview = useCall('messagePreview', { id });
  return (
    <Fetched query={preview} lines={6}>
      {(data) => <PreviewTabs id={id} preview={data} />}
    </Fetched>
  );
}

function PreviewTabs({ id, preview }: { readonly id: string; readonly preview: Preview }) {
  const [{ view }, put] = useAddress();
  const onView = (next: ContentsView) => put({ view: next });
  const checks = useCall('preflight', { id }, { topics: ['domains', 'relays', 'routes'] });
  const { hasHtml, text, attachments, headers, notes } = preview;
  const first = hasHtml ? 'html' : text !== null ? 'text' : attachments.length > 0 ? 'attachments' : 'source';
  const chosen = view ?? first;
  const tabs: (Tab<Exclude<ContentsView, 'phone'>> | false)[] = [
    hasHtml && {
      value: 'html',
      label: 'HTML',
      // Of its own for each message: what was asked for of one is not asked for of the next.
      content: (
        <HtmlView
          key={id}
          id={id}
          remotePictures={preview.remotePictures}
          isPhone={chosen === 'phone'}
          onView={onView}
        />
      ),
    },
    text !== null && { value: 'text', label: 'Text', content: <TextView text={text} /> },
    {
      value: 'checks',
      label: <Counted label="Checks" count={checks.data?.findings.length} />,
      content: (
        <Fetched query={checks} lines={5}>
          {({ findings }) => <Findings findings={findings} />}
        </Fetched>
      ),
    },
    { value: 'source', label: 'Source', content: <SourceView id={id} /> },
    {
      value: 'headers',
      label: <Counted label="Headers" count={headers.length} />,
      content: <HeaderTable headers={headers} />,
    },
    {
      value: 'attachments',
      label: <Counted label="Attachments" count={attachments.length} />,
      content: <AttachmentList id={id} attachments={attachments} />,
    },
  ];
  const wanted = chosen === 'phone' ? 'html' : chosen;
  const shown = tabs.some((tab) => tab && tab.value === wanted) ? wanted : first;
  return (
    <div className="space-y-3">
      {notes.length > 0 && (
        <Banner level="info">
          {notes.map((note) => (
            <Said key={note} text={note} lines="several" className="block" />
          ))}
        </Banner>
      )}
      <Tabs label="Contents" tabs={tabs} value={shown} onChange={onView} />
    </div>
  );
}

function Counted({ label, count }: { readonly label: string; readonly count: number | undefined }) {
  return (
    <>
      {label} <span className="text-sm font-normal text-soft">{count}</span>
    </>
  );
}

const WIDTHS = [
  { value: 'html', label: 'Desktop width', icon: Monitor },
  { value: 'phone', label: 'Phone width', icon: Smartphone },
] as const;

/** The HTML in a frame that may do nothing: no script, no form, no way out, and no request but for pictures on demand. */
function HtmlView({
  id,
  remotePictures,
  isPhone,
  onView,
}: {
  readonly id: string;
  readonly remotePictures: number;
  readonly isPhone: boolean;
  readonly onView: (view: ContentsView) => void;
}) {
  const [isDark, setDark] = useState(false);
  // Not in the page's address: nobody asks for pictures by following a link.
  const [hasPictures, setPictures] = useState(false);
  const look = new URLSearchParams({
    view: 'html',
    ...(isDark && { scheme: 'dark' }),
    ...(hasPictures && { pictures: 'remote' }),
  });
  return (
    <div>
      <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-2">
        <Segments label="Width" choices={WIDTHS} value={isPhone ? 'phone' : 'html'} onChange={onView} />
        <SchemeChoice isDark={isDark} onChange={setDark} />
        <p className="min-w-0 flex-1 basis-60 text-sm text-soft">
          Scripts, forms and everything {hasPictures && 'else '}remote are kept out.
          {isDark && ' A mail without styles for dark mode is inverted, as some clients do.'}
        </p>
      </div>
      {remotePictures > 0 && (
        <PicturesBar count={remotePictures} isShown={hasPictures} onShow={setPictures} />
      )}
      <HtmlFrame src={`/preview/${encodeURIComponent(id)}?${look}`} isDark={isDark} isPhone={isPhone} />
    </div>
  );
}

/** How many pictures are elsewhere, and what has the reader's browser fetch them, once it is said what that reveals. */
function PicturesBar({
  count,
  isShown,
  onShow,
}: {
  readonly count: number;
  readonly isShown: boolean;
  readonly onShow: (next: boolean) => void;
}) {
  const [isAsking, setAsking] = useState(false);
  const pictures = plural(count, 'remote picture');
  return (
    <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-1.5 rounded-md border border-line bg-sunken py-1.5 pr-1.5 pl-3 text-sm">
      <ImageOff aria-hidden size={15} className="shrink-0 text-soft" />
      <p className="min-w-0 flex-1 basis-52" role="status">
        {isShown
          ? `Your browser fetches ${pictures} from where the message says.`
          : `${pictures} ${count === 1 ? 'is' : 'are'} not shown, and nobody learns that you read this.`}
      </p>
      {isShown ? (
        <Button small icon={ImageOff} label="Hide pictures" onClick={() => onShow(false)} />
      ) : (
        <Button small icon={ImageDown} label="Show pictures…" onClick={() => setAsking(true)} />
      )}
      <ConfirmDialog
        open={isAsking}
        title={`Show ${pictures}?`}
        confirm="Show pictures"
        onConfirm={() => {
          setAsking(false);
          onShow(true);
        }}
        onClose={() => setAsking(false)}
      >
        <p>
          By them the sender learns that this message was looked at, when, with which browser and from which
          IP address, as if its recipient had opened it.
        </p>
        <p>
          Your browser fetches them itself, over HTTPS, without cookies and without saying where it found
          them. Nothing goes through Waybill. It holds for this message, until you leave it.
        </p>
      </ConfirmDialog>
    </div>
  );
}

function TextView({ text }: { readonly text: string }) {
  return (
    <div className="max-h-[44rem] overflow-auto rounded-md border border-line bg-paper p-4">
      <Said text={text} none="(empty)" lines="several" mono className="block" />
    </div>
  );
}

function HeaderTable({ headers }: { readonly headers: Preview['headers'] }) {
  if (headers.length === 0) return <EmptyState title="No headers" />;
  return (
    <dl className="max-h-[44rem] overflow-y-auto rounded-md border border-line">
      {headers.map(({ name, value }, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: fields repeat, and their order is part of the message
          key={index}
          className="grid gap-x-4 border-b border-line px-3 py-1.5 last:border-b-0 sm:grid-cols-[minmax(8rem,14rem)_minmax(0,1fr)]"
        >
          <dt className="min-w-0 text-soft">
            <Said text={name} lines="several" />
          </dt>
          <dd className="min-w-0">
            <Said text={value} lines="several" mono />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The files in a message. They are only ever saved, never shown here. */
function AttachmentList({
  id,
  attachments,
}: {
  readonly id: string;
  readonly attachments: Preview['attachments'];
}) {
  if (attachments.length === 0) return <EmptyState icon={Paperclip} title="No attachments" />;
  return (
    <ul className="divide-y divide-line rounded-md border border-line">
      {attachments.map(({ number, filename, contentType, sizeBytes, inline }) => (
        <li key={number} className="flex items-center gap-3 px-3 py-2">
          <Paperclip aria-hidden size={15} className="shrink-0 text-soft" />
          <div className="min-w-0 flex-1">
            <Said text={filename} none="(no name)" className="font-medium" />
            <div className="flex min-w-0 items-center gap-2 text-sm text-soft">
              <Said text={contentType} className="min-w-0" />
              <Bytes bytes={sizeBytes} />
              {inline && <Badge>Inline</Badge>}
            </div>
          </div>
          <DownloadLink
            href={`/api/messages/${encodeURIComponent(id)}/parts/${number}`}
            name={plainText(filename)}
          />
        </li>
      ))}
    </ul>
  );
}

/** No more of a message is read to be shown. */
const MAX_SHOWN_BYTES = 256 * 1024;

/** A message as it was handed on, byte by byte. */
function SourceView({ id }: { readonly id: string }) {
  const path = `/api/messages/${encodeURIComponent(id)}/source`;
  const source = useQuery<{ text: string; isCut: boolean }, Error>({
    queryKey: ['source', id],
    queryFn: ({ signal }) => readStart(path, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Fetched query={source} lines={8}>
      {({ text, isCut }) => (
        <figure className="min-w-0 rounded-md border border-line bg-paper">
          <figcaption className="flex items-center gap-2 border-b border-line py-1 pr-1 pl-3">
            <span className="caption flex-1">
              {isCut ? `The first ${formatBytes(MAX_SHOWN_BYTES)}` : 'As it is stored'}
            </span>
            <CopyButton text={text} label="Copy source" />
            <a href={path} download={`${id}.eml`} className="link rounded-sm px-2 text-sm">
              Download .eml
            </a>
          </figcaption>
          <pre
            // biome-ignore lint/a11y/noNoninteractiveTabindex: keys can scroll what is too long
            tabIndex={0}
            dir="ltr"
            className="max-h-[44rem] overflow-auto p-3 font-mono text-sm leading-relaxed break-all whitespace-pre-wrap -outline-offset-2"
          >
            {plainLines(text)}
          </pre>
        </figure>
      )}
    </Fetched>
  );
}

async function readStart(path: string, signal: AbortSignal): Promise<{ text: string; isCut: boolean }> {
  const response = await download(path, signal);
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let text = '';
  let bytes = 0;
  let isCut = false;
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value.subarray(0, MAX_SHOWN_BYTES - bytes), { stream: true });
    bytes += value.byteLength;
    if (bytes <= MAX_SHOWN_BYTES) continue;
    isCut = true;
    await reader.cancel();
    break;
  }
  return { text, isCut };
}
