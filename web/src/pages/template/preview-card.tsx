import { Monitor, Moon, Plus, Smartphone, Sun, Type } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { DraftShown } from '../../../../src/dashboard/contract.ts';
import { useAddress } from '../../address.ts';
import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import { type Place, placeOf } from '../../parts/findings-words.ts';
import { Card } from '../../parts/page.tsx';
import { ErrorState, LoadingState } from '../../parts/states.tsx';
import { Segments } from '../../parts/toolbar.tsx';
import { Said } from '../../parts/values.tsx';
import type { RenderedDraft } from './rendered.ts';

const WIDTHS = [
  { value: 'desktop', label: 'Desktop width', icon: Monitor },
  { value: 'phone', label: 'Phone width', icon: Smartphone },
  { value: 'text', label: 'Text', icon: Type },
] as const;

const SCHEMES = [
  { value: 'light', label: 'Light', icon: Sun },
  { value: 'dark', label: 'Dark mode', icon: Moon },
] as const;

/** What the template says with its sample, as it is being written. */
export function PreviewCard({
  rendered,
  onAddNames,
  onGo,
}: {
  readonly rendered: RenderedDraft;
  /** Puts names into the sample; null: they cannot be now. */
  readonly onAddNames: ((names: readonly string[]) => void) | null;
  readonly onGo: (place: Place) => void;
}) {
  const [{ look, dark = false }, put] = useAddress();
  const { mail, faults, missing, isWaiting, error, retry } = rendered;
  const html = mail?.html ?? null;
  const shown = html === null ? 'text' : (look ?? 'desktop');
  return (
    <Card
      title="Preview"
      flush
      actions={
        <>
          {shown !== 'text' && (
            <Segments
              label="Colours"
              choices={SCHEMES}
              value={dark ? 'dark' : 'light'}
              onChange={(next) => put({ dark: next === 'dark' || undefined })}
            />
          )}
          {html !== null && (
            <Segments
              label="Shown as"
              choices={WIDTHS}
              value={shown}
              onChange={(next) => put({ look: next })}
            />
          )}
        </>
      }
    >
      {mail === null ? (
        error ? (
          <ErrorState error={error} onRetry={retry} />
        ) : faults.length > 0 ? (
          <Faults faults={faults} onGo={onGo} isStale={false} />
        ) : (
          <LoadingState lines={8} />
        )
      ) : (
        <>
          {faults.length > 0 && <Faults faults={faults} onGo={onGo} isStale />}
          {error && (
            <p role="alert" className="border-b border-line bg-failed-soft px-4 py-2 text-sm">
              The preview is out of date: {error.message}
            </p>
          )}
          {missing.length > 0 && <Missing names={missing} onAdd={onAddNames} />}
          <div className="flex gap-3 border-b border-line px-4 py-2">
            <span className="caption pt-0.5">Subject</span>
            <Said text={mail.subject} none="(empty)" lines="several" className="min-w-0 font-medium" />
          </div>
          <div
            aria-busy={isWaiting || undefined}
            className={classNames('transition-opacity', faults.length > 0 && 'opacity-50')}
          >
            {shown === 'text' || html === null ? (
              <div className="h-[min(52dvh,36rem)] min-h-48 resize-y overflow-auto bg-paper p-4">
                <Said text={mail.text} none="(no text)" lines="several" mono className="block" />
              </div>
            ) : (
              <MailFrame html={html} isDark={dark} isPhone={shown === 'phone'} />
            )}
          </div>
          <p className="border-t border-line px-4 py-2 text-sm text-soft">{footnote(html, shown, dark)}</p>
        </>
      )}
    </Card>
  );
}

/** Styles of a mail for dark mode. */
const OWN_DARK = /prefers-color-scheme\s*:\s*dark/i;

/** Whether a mail says itself how it looks in dark mode. */
function hasOwnDark(html: string): boolean {
  return OWN_DARK.test(html);
}

/** HTML that is being written, as mail clients show it. It changes in place, so that it stays where it was scrolled to. */
function MailFrame({
  html,
  isDark,
  isPhone,
}: {
  readonly html: string;
  readonly isDark: boolean;
  readonly isPhone: boolean;
}) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [isLoaded, setLoaded] = useState(false);
  const scheme = !isDark ? 'light' : hasOwnDark(html) ? 'dark' : 'turned';
  useEffect(() => {
    if (!isLoaded) return;
    const shown: DraftShown = { html, scheme };
    // The frame has no origin that could be named.
    frame.current?.contentWindow?.postMessage(shown, '*');
  }, [html, scheme, isLoaded]);
  return (
    <div className="h-[min(52dvh,36rem)] min-h-48 resize-y overflow-hidden bg-sunken">
      <div
        className={classNames(
          'mx-auto h-full transition-[max-width] duration-200',
          isPhone ? 'max-w-[377px] border-x border-line' : 'max-w-full',
        )}
      >
        <iframe
          ref={frame}
          // Its one script comes from the server, and the policy lets no other run.
          sandbox="allow-scripts"
          title="The mail"
          src="/preview/draft"
          referrerPolicy="no-referrer"
          onLoad={() => setLoaded(true)}
          style={{ background: isDark ? '#121212' : '#fff', colorScheme: 'light' }}
          className="block h-full w-full"
        />
      </div>
    </div>
  );
}

function footnote(html: string | null, shown: (typeof WIDTHS)[number]['value'], isDark: boolean): string {
  if (html === null || shown === 'text') return 'As clients that do not show HTML show it.';
  const pictures = 'Nothing is fetched, so pictures from the web are missing.';
  if (!isDark) return pictures;
  return hasOwnDark(html)
    ? `With the mail’s own styles for dark mode. ${pictures}`
    : `The mail has no styles for dark mode: some clients invert its colours like this, others leave them. ${pictures}`;
}

function Faults({
  faults,
  onGo,
  isStale,
}: {
  readonly faults: RenderedDraft['faults'];
  readonly onGo: (place: Place) => void;
  /** What is shown is older. */
  readonly isStale: boolean;
}) {
  return (
    <div role="alert" className="border-b border-line bg-failed-soft px-4 py-2.5">
      <p className="font-medium">
        {isStale ? 'This is the last preview that worked. Since then:' : 'There is nothing to show yet:'}
      </p>
      <ul className="mt-0.5 text-sm">
        {faults.map(({ field, line, detail }, index) => {
          const place = placeOf(`/${field}#L${line}`);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same may be wrong twice
            <li key={index}>
              <button type="button" onClick={() => onGo(place)} className="link rounded-sm">
                {place.words}
              </button>{' '}
              {detail}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** Names that are listed before the rest is counted. */
const MAX_NAMES = 8;

function Missing({
  names,
  onAdd,
}: {
  readonly names: readonly string[];
  readonly onAdd: Parameters<typeof PreviewCard>[0]['onAddNames'];
}) {
  const more = names.length - MAX_NAMES;
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line bg-retrying-soft px-4 py-2"
    >
      <p className="min-w-0 flex-1 basis-52">
        The sample has no value for{' '}
        {names.slice(0, MAX_NAMES).map((name, place) => (
          <span key={name}>
            {place > 0 && ', '}
            <code className="font-mono text-sm break-all">{name}</code>
          </span>
        ))}
        {more > 0 && ` and ${more} more`}. A message that lacks {names.length === 1 ? 'it' : 'any of them'} is
        refused.
      </p>
      {onAdd && <Button small icon={Plus} label="Add to the sample" onClick={() => onAdd(names)} />}
    </div>
  );
}
