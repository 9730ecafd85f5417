import { ArrowRight } from 'lucide-react';
import { ButtonLink } from '../../parts/button.tsx';

const STEPS = [
  ['Make an API key', 'With a line of curl to paste.'],
  ['Send a first message', 'It arrives here while you look; nothing leaves yet.'],
  ['Add a relay', 'Then mail goes out to the world.'],
] as const;

/** What someone sees whose installation has seen no mail: the way to the first message. */
export function Welcome() {
  return (
    <section className="overflow-hidden rounded-lg border border-line bg-surface">
      <div className="grid gap-6 p-5 md:grid-cols-[minmax(0,1fr)_minmax(0,1.3fr)] md:p-7">
        <div>
          <h2 className="text-xl font-semibold tracking-tight">Ready for the first message</h2>
          <p className="mt-2 max-w-prose text-soft">
            The service runs and takes mail. Until there is a relay, all of it is captured in the local inbox,
            where you can look at it, and nothing is sent by accident.
          </p>
          <ButtonLink to="/first-steps" look="primary" className="mt-5">
            Take the first steps <ArrowRight aria-hidden size={16} />
          </ButtonLink>
        </div>
        <ol className="divide-y divide-line self-center rounded-md border border-line bg-paper">
          {STEPS.map(([title, text], index) => (
            <li key={title} className="flex items-baseline gap-3 px-4 py-2.5">
              <span className="font-mono text-sm text-accent">{index + 1}</span>
              <span>
                <span className="font-medium">{title}.</span> <span className="text-soft">{text}</span>
              </span>
            </li>
          ))}
        </ol>
      </div>
      <div aria-hidden className="perforated" />
    </section>
  );
}
