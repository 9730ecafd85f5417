import { Toast } from '@base-ui/react/toast';
import { CircleAlert, CircleCheck, X } from 'lucide-react';
import type { ReactNode } from 'react';

const manager = Toast.createToastManager();

/** Short messages at the edge of the window, from anywhere. */
export const toast = {
  /** Something was done. */
  success(text: string): void {
    manager.add({ title: text, type: 'success', timeout: 5_000 });
  },
  /** Something was not done, and why; stays longer. */
  error(text: string, requestId: string | null = null): void {
    manager.add({
      title: text,
      type: 'error',
      timeout: 15_000,
      priority: 'high',
      ...(requestId !== null && { description: `Request ${requestId}` }),
    });
  },
};

/** Where toasts appear; once, around the whole page. */
export function Toasts({ children }: { readonly children: ReactNode }) {
  return (
    <Toast.Provider toastManager={manager} limit={4}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="fixed inset-x-4 bottom-4 z-60 ml-auto flex flex-col-reverse gap-2 sm:left-auto sm:w-90">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function ToastList() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((shown) => (
    <Toast.Root
      key={shown.id}
      toast={shown}
      className="w-full rounded-md border border-line bg-raised shadow-raised transition-[opacity,translate] data-ending-style:opacity-0 data-starting-style:translate-y-3 data-starting-style:opacity-0"
    >
      <Toast.Content className="flex items-start gap-2.5 p-3">
        {shown.type === 'error' ? (
          <CircleAlert aria-hidden size={17} className="mt-0.5 shrink-0 text-failed" />
        ) : (
          <CircleCheck aria-hidden size={17} className="mt-0.5 shrink-0 text-delivered" />
        )}
        <div className="min-w-0 flex-1">
          <Toast.Title className="break-words" />
          <Toast.Description className="text-xs text-soft select-all" />
        </div>
        <Toast.Close
          aria-label="Dismiss"
          className="flex size-6 shrink-0 items-center justify-center rounded-sm text-soft hover:bg-sunken"
        >
          <X aria-hidden size={14} />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}
