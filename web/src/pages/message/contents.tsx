import { Monitor, Smartphone } from 'lucide-react';
import { useState } from 'react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { Banner } from '../../parts/banner.tsx';
import { classNames } from '../../parts/class-names.ts';
import { Said } from '../../parts/said.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { type Tab, Tabs } from '../../parts/tabs.tsx';
import { useCall } from '../../queries.ts';
import { AttachmentList } from './attachment-list.tsx';
import { SourceView } from './source-view.tsx';

/** What a message says; nothing of it is to be trusted. */
export type Preview = ResultOf<'messagePreview'>;

/** What of a message's contents is shown; `phone` is the HTML on a narrow screen. */
export type ContentsView = 'html' | 'phone' | 'text' | 'source' | 'headers' | 'attachments';

/** What a message says, in several ways of looking at it. Which of them is kept in the page's address. */
export function MessageContents({
  id,
  view,
  onView,
}: {
  readonly id: string;
  readonly view: ContentsView | undefined;
  readonly onView: (view: ContentsView) => void;
}) {
  const preview = useCall('messagePreview', { id });
  return (
    <Fetched query={preview} lines={6}>
      {(data) => <PreviewTabs id={id} preview={data} view={view} onView={onView} />}
    </Fetched>
  );
}

function PreviewTabs({
  id,
  preview,
  view,
  onView,
}: Parameters<typeof MessageContents>[0] & { readonly preview: Preview }) {
  const { hasHtml, text, attachments, headers, notes } = preview;
  const first = hasHtml ? 'html' : text !== null ? 'text' : attachments.length > 0 ? 'attachments' : 'source';
  const chosen = view ?? first;
  const tabs: Tab<Exclude<ContentsView, 'phone'>>[] = [
    ...(hasHtml
      ? [
          {
            value: 'html' as const,
            label: 'HTML',
            content: <HtmlView id={id} isPhone={chosen === 'phone'} onView={onView} />,
          },
        ]
      : []),
    ...(text === null ? [] : [{ value: 'text' as const, label: 'Text', content: <TextView text={text} /> }]),
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
  const shown = tabs.some(({ value }) => value === wanted) ? wanted : first;
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

function Counted({ label, count }: { readonly label: string; readonly count: number }) {
  return (
    <>
      {label} <span className="text-sm font-normal text-soft">{count}</span>
    </>
  );
}

const WIDTHS = [
  { view: 'html', label: 'Desktop width', icon: Monitor },
  { view: 'phone', label: 'Phone width', icon: Smartphone },
] as const;

/** The HTML in a frame that may do nothing: no script, no form, no request, no way out. */
function HtmlView({
  id,
  isPhone,
  onView,
}: {
  readonly id: string;
  readonly isPhone: boolean;
  readonly onView: (view: ContentsView) => void;
}) {
  const [isLoaded, setLoaded] = useState(false);
  return (
    <div>
      <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-2">
        <fieldset aria-label="Width" className="flex min-w-auto rounded-md border border-edge/60 p-0.5">
          {WIDTHS.map(({ view, label, icon: Icon }) => {
            const on = (view === 'phone') === isPhone;
            return (
              <button
                key={view}
                type="button"
                aria-pressed={on}
                aria-label={label}
                title={label}
                onClick={() => onView(view)}
                className={classNames(
                  'flex h-6.5 w-9 items-center justify-center rounded-sm',
                  on ? 'bg-accent-soft text-accent' : 'text-soft hover:text-ink',
                )}
              >
                <Icon aria-hidden size={15} />
              </button>
            );
          })}
        </fieldset>
        <p className="min-w-0 flex-1 text-sm text-soft">
          As stored. Scripts, forms and everything remote are kept out, so pictures from the web are missing.
        </p>
      </div>
      <div className="h-[min(64dvh,32rem)] min-h-40 resize-y overflow-hidden rounded-md border border-line bg-sunken p-0 sm:p-3">
        <iframe
          // A frame whose sandbox allows nothing is of no origin, runs nothing and leads nowhere.
          sandbox=""
          title="The message's HTML"
          src={`/preview/${encodeURIComponent(id)}?view=html`}
          referrerPolicy="no-referrer"
          onLoad={() => setLoaded(true)}
          style={{ background: '#fff', colorScheme: 'light' }}
          className={classNames(
            'mx-auto block h-full w-full rounded-sm transition-[max-width,opacity] duration-200',
            isPhone ? 'max-w-[375px]' : 'max-w-full',
            !isLoaded && 'opacity-40',
          )}
        />
      </div>
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
          // Fields repeat, and their order is part of the message.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
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
