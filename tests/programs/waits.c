/*
 * Prints a line, waits for a signal, and calls nothing of a graphics API. Needs no library but the C library, so it can be linked statically.
 */
#include <unistd.h>

int main(void)
{
    if (write(STDOUT_FILENO, "waits\n", 6) == 6)
        pause();
    return 0;
}
