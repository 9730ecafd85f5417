import { useState } from 'react';
import { plural } from '../../format.ts';
import { Button } from '../../parts/button.tsx';
import { ReviewDialog } from './review-dialog.tsx';
import type { ChangesInHand } from './use-changes.ts';

/** Stands at the foot of the window while there is something to store. */
export function ChangesBar({ hand }: { readonly hand: ChangesInHand }) {
  const [reviewing, setReviewing] = useState(false);
  const { pending, faults } = hand;
  const unread = pending.filter(({ reading }) => 'fault' in reading).length;
  const isOpen = Object.keys(hand.changes).length > 0;
  const said = [...Object.entries(faults.fields).map(([key, fault]) => `${key}: ${fault}`), faults.rest]
    .filter((line) => line !== null)
    .join('\n');
  return (
    <>
      {isOpen && (
        <div className="sticky bottom-0 z-20 -mx-1 mt-4 px-1 pb-3">
          <div className="flex flex-wrap items-center gap-3 rounded-lg border border-edge/60 bg-raised px-4 py-2.5 shadow-raised">
            <span role="status" className="min-w-0 flex-1 basis-48">
              {pending.length === 0
                ? 'Nothing is changed yet.'
                : `${plural(pending.length, 'change')} not saved.`}
              {unread > 0 && <span className="text-failed"> Look at what is marked.</span>}
            </span>
            <Button small onClick={hand.discard}>
              Discard
            </Button>
            <Button
              small
              look="primary"
              disabled={pending.length === 0 || unread > 0}
              onClick={() => setReviewing(true)}
            >
              Review and save
            </Button>
          </div>
        </div>
      )}
      <ReviewDialog
        open={reviewing && isOpen}
        onClose={() => setReviewing(false)}
        onStore={() => hand.store(() => setReviewing(false))}
        pending={pending}
        busy={hand.isStoring}
        problem={said === '' ? null : said}
      />
    </>
  );
}
