import { Link } from '@tanstack/react-router';
import { JUMPS, PALETTE_KEYS } from '../keyboard.ts';
import { useSession } from '../session.tsx';
import { Dialog } from './dialog.tsx';

const KEYS: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [['/'], 'Search, if the page has one'],
  [['j'], 'Next row'],
  [['k'], 'Previous row'],
  [['Enter'], 'Open the row'],
  [['x'], 'Tick the row, in Messages'],
  [['Esc'], 'Close, or clear the search'],
  [PALETTE_KEYS, 'Find or do anything'],
  [['?'], 'This help'],
];

/** The keys that work everywhere, and where to read more. */
export default function HelpDialog({ onClose }: { readonly onClose: () => void }) {
  const { version } = useSession();
  return (
    <Dialog onClose={onClose} title="Keys and help">
      <div className="grid gap-x-8 gap-y-5 sm:grid-cols-2">
        <KeyTable title="On every page" rows={KEYS} />
        <KeyTable
          title="Go to"
          rows={Object.entries(JUMPS).map(([key, { label }]) => [['g', key], label] as const)}
        />
      </div>
      <p className="mt-5 text-soft">
        New here?{' '}
        <Link to="/first-steps" onClick={onClose} className="link">
          First steps
        </Link>{' '}
        leads from a key to the first message. Version {version}.
      </p>
    </Dialog>
  );
}

function KeyTable({ title, rows }: { readonly title: string; readonly rows: typeof KEYS }) {
  return (
    <section>
      <h3 className="mb-1.5 font-semibold">{title}</h3>
      <dl>
        {rows.map(([keys, meaning]) => (
          <div
            key={meaning}
            className="flex items-center justify-between border-b border-line py-1 last:border-b-0"
          >
            <dt>{meaning}</dt>
            <dd className="flex gap-1">
              {keys.map((key) => (
                <kbd
                  key={key}
                  className="min-w-6 rounded-sm border border-line bg-paper px-1.5 text-center font-mono text-sm"
                >
                  {key}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
