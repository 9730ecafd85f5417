import { Moon, Sun } from 'lucide-react';
import { type ComponentProps, useState } from 'react';
import { classNames } from '../../parts/class-names.ts';
import { Segments } from '../../parts/toolbar.tsx';

/** The HTML of a message, as it is looked at. */

const SCHEMES = [
  { value: 'light', label: 'Light', icon: Sun },
  { value: 'dark', label: 'Dark mode', icon: Moon },
] as const;

/** Whether it is shown as in dark mode. */
export function SchemeChoice({
  isDark,
  onChange,
}: {
  readonly isDark: boolean;
  readonly onChange: (isDark: boolean) => void;
}) {
  return (
    <Segments
      label="Colours"
      choices={SCHEMES}
      value={isDark ? 'dark' : 'light'}
      onChange={(next) => onChange(next === 'dark')}
    />
  );
}

/** The document at this path, in a frame that may do nothing. */
export function HtmlFrame(props: ComponentProps<typeof Frame>) {
  return (
    <div className="h-[min(64dvh,32rem)] min-h-40 resize-y overflow-hidden rounded-md border border-line bg-sunken p-0 sm:p-3">
      {/* A frame of its own for each look: were one led from look to look, Back would lead it to pictures that were hidden. */}
      <Frame key={props.src} {...props} />
    </div>
  );
}

function Frame({
  src,
  isDark,
  isPhone,
}: {
  readonly src: string;
  readonly isDark: boolean;
  readonly isPhone: boolean;
}) {
  const [isLoaded, setLoaded] = useState(false);
  return (
    <iframe
      // A frame whose sandbox allows nothing is of no origin, runs nothing and leads nowhere.
      sandbox=""
      title="The message's HTML"
      src={src}
      referrerPolicy="no-referrer"
      onLoad={() => setLoaded(true)}
      style={{ background: isDark ? '#121212' : '#fff', colorScheme: 'light' }}
      className={classNames(
        'mx-auto block h-full w-full rounded-sm transition-[max-width,opacity] duration-200',
        isPhone ? 'max-w-[375px]' : 'max-w-full',
        !isLoaded && 'opacity-40',
      )}
    />
  );
}
