/** Makes the application's `onError` safe to call from anywhere: a hook that fails fails no call and no store, and rejects nothing. */
export function errorHook(onError: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    try {
      onError(error);
    } catch (failure) {
      console.error(failure);
    }
  };
}
