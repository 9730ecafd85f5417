import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { Card } from '../../parts/card.tsx';
import { Page } from '../../parts/page.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { Said } from '../../parts/said.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../parts/states.tsx';
import { MessageActions } from './actions.tsx';
import { type ContentsView, MessageContents } from './contents.tsx';
import { Facts } from './facts.tsx';
import { Happenings } from './happenings.tsx';
import { RecipientTable } from './recipients.tsx';
import { MessageStatus } from './status.tsx';
import { useStory } from './use-story.ts';
import { Waiting } from './waiting.tsx';
import { WhyThisWay } from './ways.tsx';

/** One message: what became of it and why, and what it says. */
export function MessagePage() {
  const { id } = useParams({ from: '/messages/$id' });
  const { view } = useSearch({ from: '/messages/$id' });
  const navigate = useNavigate({ from: '/messages/$id' });
  const onView = useCallback(
    (next: ContentsView) => void navigate({ search: { view: next }, replace: true, resetScroll: false }),
    [navigate],
  );
  const { query, story, more } = useStory(id);
  const back = { to: '/messages', label: 'Messages' } as const;
  if (story === undefined)
    return (
      <Page title="Message" back={back}>
        <Card>
          {query.error ? (
            <ErrorState error={query.error} onRetry={() => void query.refetch()} />
          ) : (
            <LoadingState lines={9} />
          )}
        </Card>
      </Page>
    );
  const { subject } = story.record;
  return (
    <Page
      title={plainText(subject) || 'Message without a subject'}
      heading={<Said text={subject} none="(no subject)" lines="several" />}
      note={<MessageStatus story={story} />}
      back={back}
      actions={<MessageActions key={id} story={story} />}
    >
      <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,1fr)_21rem]">
        <div className="min-w-0 space-y-5">
          <Waiting story={story} />
          <RecipientTable story={story} />
          <Card title="What happened">
            <Happenings story={story} moreAttempts={more.has} onMore={more.load} loadingMore={more.loading} />
          </Card>
          <Card title="Contents">
            {story.content.kept ? (
              <MessageContents key={id} id={id} view={view} onView={onView} />
            ) : (
              <EmptyState title="Its content is no longer kept">
                Contents are removed some days after a message is final; Settings → Retention says how many.
                The record stays longer.
              </EmptyState>
            )}
          </Card>
        </div>
        <aside aria-label="Facts" className="min-w-0 space-y-5">
          <Card title="Facts">
            <Facts story={story} />
          </Card>
          <Card title="Why this way">
            <WhyThisWay story={story} />
          </Card>
        </aside>
      </div>
    </Page>
  );
}
