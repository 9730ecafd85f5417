import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Said } from '../../parts/values.tsx';

/** Of a list, so many stand there at once; one more alone is no reason to fold it. */
const SHOWN_AT_ONCE = 5;

/** What strangers wrote, one a line: the first of them, and a button for all. */
export function LongList({ name, items }: { readonly name: string; readonly items: readonly string[] }) {
  const [isOpen, setOpen] = useState(false);
  const isLong = items.length > SHOWN_AT_ONCE + 1;
  const list = (
    <ul className="space-y-1">
      {(isLong && !isOpen ? items.slice(0, SHOWN_AT_ONCE) : items).map((item, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same address may stand there twice; the list does not change
        <li key={place}>
          <Said text={item} lines="several" />
        </li>
      ))}
    </ul>
  );
  if (!isLong) return list;
  return (
    <>
      {isOpen ? <Scrolled name={`${name}: all ${items.length}`}>{list}</Scrolled> : list}
      <Fold name={name} isOpen={isOpen} onChange={setOpen}>
        {isOpen ? `only the first ${SHOWN_AT_ONCE}` : `and ${items.length - SHOWN_AT_ONCE} more`}
      </Fold>
    </>
  );
}

/** A value of some lines, and where it has more of them, a button for all. */
export function LongValue({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const [isCut, setCut] = useState(false);
  const cut = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = cut.current;
    if (isOpen || !element) return;
    const observer = new ResizeObserver(() => setCut(element.scrollHeight > element.clientHeight + 1));
    observer.observe(element);
    return () => observer.disconnect();
  }, [isOpen]);
  return (
    <>
      {isOpen ? (
        <Scrolled name={name}>{children}</Scrolled>
      ) : (
        <div ref={cut} className="max-h-32 overflow-hidden">
          {children}
        </div>
      )}
      {isCut && (
        <Fold name={name} isOpen={isOpen} onChange={setOpen}>
          {isOpen ? 'less of it' : 'all of it'}
        </Fold>
      )}
    </>
  );
}

/** What may be higher than there is room for. Keys can scroll it. */
function Scrolled({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <section
      aria-label={name}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys can scroll what has the focus
      tabIndex={0}
      className="mb-1 max-h-80 overflow-y-auto rounded-md border border-line bg-paper px-2 py-1"
    >
      {children}
    </section>
  );
}

function Fold({
  name,
  isOpen,
  onChange,
  children,
}: {
  readonly name: string;
  readonly isOpen: boolean;
  readonly onChange: (open: boolean) => void;
  readonly children: string;
}) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      aria-label={`${name}: ${children}`}
      onClick={() => onChange(!isOpen)}
      className="link text-sm"
    >
      {children}
    </button>
  );
}
