import { Banner } from '../../parts/banner.tsx';
import { ButtonLink } from '../../parts/button.tsx';
import { Said } from '../../parts/said.tsx';
import { Time } from '../../parts/values.tsx';
import type { Story } from './timeline.ts';

/** More would be a list of their own. */
const MAX_SHOWN = 5;

/** What keeps it, where someone can do something about it. */
export function Waiting({ story }: { readonly story: Story }) {
  const all = story.ways.flatMap(({ waits }) => waits);
  const obstacles = [...new Map(all.map((one) => [JSON.stringify(one), one]))];
  if (obstacles.length === 0) return null;
  return (
    <Banner
      level="warning"
      title="It waits for something"
      actions={
        <ButtonLink small to="/queue">
          Queue
        </ButtonLink>
      }
    >
      <ul className="space-y-1">
        {obstacles.slice(0, MAX_SHOWN).map(([key, { what, until, command }]) => (
          <li key={key}>
            <Said text={what} lines="several" />
            {until !== null && (
              <>
                {' until '}
                <Time at={until} exact ahead />
              </>
            )}
            {command !== null && (
              <div className="text-sm">
                On the server: <code className="font-mono break-words select-all">{command}</code>
              </div>
            )}
          </li>
        ))}
        {obstacles.length > MAX_SHOWN && <li>and {obstacles.length - MAX_SHOWN} other things</li>}
      </ul>
    </Banner>
  );
}
