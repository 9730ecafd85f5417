import { useQuery } from '@tanstack/react-query';
import { Link2Off, Paperclip, RefreshCw } from 'lucide-react';
import { useState } from 'react';
import type { SessionCalls } from '../../../../src/dashboard/contract.ts';
import { type ApiError, sessionCall } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { Wordmark } from '../../parts/logo.tsx';
import { Card, useTitle } from '../../parts/page.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { type Tab, Tabs } from '../../parts/tabs.tsx';
import { Bytes, plainText, Said, Time } from '../../parts/values.tsx';
import { RecipientTable } from '../message/facts.tsx';
import { Happenings } from '../message/happenings.tsx';
import { HtmlFrame, SchemeChoice } from '../message/html-frame.tsx';
import { MessageStatus } from '../message/status.tsx';

type Shared = SessionCalls['story']['answer'];
type Content = NonNullable<Shared['content']>;

/** What a link shows of a message to whoever has it, signed in or not. */
export function StoryPage({ token }: { readonly token: string }) {
  const story = useQuery<Shared, ApiError>({
    queryKey: ['shared-story', token],
    queryFn: () => sessionCall('story', { token }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data, error } = story;
  const subject = data?.showsContent ? plainText(data.story.record.subject) : '';
  useTitle(subject || 'A message’s story');
  return (
    <main className="mx-auto w-full max-w-4xl px-4 pt-5 pb-16 sm:px-7 lg:pt-7">
      <div className="mb-6 flex items-center justify-between gap-3">
        <Wordmark />
        {data && (
          <Button
            small
            icon={RefreshCw}
            label="Refresh"
            busy={story.isFetching}
            onClick={() => void story.refetch()}
          />
        )}
      </div>
      {error?.code === 'story_refused' ? (
        <Card flush>
          <EmptyState icon={Link2Off} title="This link shows nothing">
            It has ended, or is not whole. Ask whoever gave it to you for another one.
          </EmptyState>
        </Card>
      ) : (
        <Fetched query={story} lines={9}>
          {(shared) => <SharedStory shared={shared} />}
        </Fetched>
      )}
    </main>
  );
}

function SharedStory({ shared: { story, content, showsContent, expiresAt } }: { readonly shared: Shared }) {
  const { subject, from } = story.record;
  return (
    <>
      <header className="mb-5">
        <h1 className="text-xl font-semibold tracking-tight break-words outline-none">
          {showsContent ? (
            <Said text={subject} none="(no subject)" lines="several" />
          ) : (
            'What became of a message'
          )}
        </h1>
        <p className="mt-0.5 text-soft">
          From <Said text={from} lines="several" className="inline" />
        </p>
        <MessageStatus story={story} />
      </header>
      <div className="space-y-5">
        <RecipientTable story={story} />
        <Card title="What happened">
          <Happenings
            story={story}
            more={{ has: story.moreAttempts, loading: false, load: () => {} }}
            hasEvidence={false}
          />
        </Card>
        {showsContent && (
          <Card title="Contents">
            {content === null ? (
              <EmptyState title="Its content cannot be shown">
                It is no longer kept, or cannot be read.
              </EmptyState>
            ) : (
              <Contents content={content} />
            )}
          </Card>
        )}
        <p className="text-sm text-soft">
          Somebody shared this with you. The link ends <Time at={expiresAt} ahead />; whoever has it sees the
          same.
        </p>
      </div>
    </>
  );
}

type View = 'html' | 'text';

/** What it says: as HTML, as text, and which files are in it. */
function Contents({ content: { document, text, attachments, notes } }: { readonly content: Content }) {
  const [view, setView] = useState<View>(document === null ? 'text' : 'html');
  const tabs: (Tab<View> | false)[] = [
    document !== null && { value: 'html', label: 'HTML', content: <Html path={document} /> },
    text !== null && {
      value: 'text',
      label: 'Text',
      content: (
        <div className="max-h-[44rem] overflow-auto rounded-md border border-line bg-paper p-4">
          <Said text={text} none="(empty)" lines="several" mono className="block" />
        </div>
      ),
    },
  ];
  return (
    <div className="space-y-3">
      {notes.map((note) => (
        <Said key={note} text={note} lines="several" className="block text-sm text-soft" />
      ))}
      {tabs.some(Boolean) ? (
        <Tabs label="Contents" tabs={tabs} value={view} onChange={setView} />
      ) : (
        <p className="text-soft">It has neither HTML nor text.</p>
      )}
      {attachments.length > 0 && (
        <ul aria-label="Attachments" className="divide-y divide-line rounded-md border border-line">
          {attachments.map(({ number, filename, contentType, sizeBytes }) => (
            <li key={number} className="flex min-w-0 items-center gap-3 px-3 py-2">
              <Paperclip aria-hidden size={15} className="shrink-0 text-soft" />
              <Said text={filename} none="(no name)" className="min-w-0 flex-1 font-medium" />
              <Said text={contentType} className="min-w-0 text-sm text-soft max-sm:hidden" />
              <span className="text-sm text-soft">
                <Bytes bytes={sizeBytes} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Html({ path }: { readonly path: string }) {
  const [isDark, setDark] = useState(false);
  return (
    <div>
      <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-2">
        <SchemeChoice isDark={isDark} onChange={setDark} />
        <p className="min-w-0 flex-1 basis-60 text-sm text-soft">
          Scripts, forms and everything remote are kept out.
        </p>
      </div>
      <HtmlFrame src={isDark ? `${path}&scheme=dark` : path} isDark={isDark} isPhone={false} />
    </div>
  );
}
