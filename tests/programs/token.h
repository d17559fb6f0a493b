/*
 * A number in shared memory that names the thread or process whose turn it is; the others wait.
 *
 * The waiter spins a little before it sleeps, so that hand-overs come both within nanoseconds and
 * by way of the kernel.
 */
#ifndef TOKEN_H
#define TOKEN_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TOKEN_SPINS 200

struct token {
    _Atomic uint32_t turn;
    _Atomic uint32_t sleepers;
};

static inline void token_wait(struct token *token, uint32_t mine)
{
    for (int spins = 0;; spins++) {
        uint32_t seen = atomic_load(&token->turn);
        if (seen == mine)
            return;
        if (spins < TOKEN_SPINS) {
            atomic_signal_fence(memory_order_seq_cst);
            continue;
        }
        atomic_fetch_add(&token->sleepers, 1);
        syscall(SYS_futex, &token->turn, FUTEX_WAIT, seen, NULL, NULL, 0);
        atomic_fetch_sub(&token->sleepers, 1);
    }
}

static inline void token_pass(struct token *token, uint32_t next)
{
    atomic_store(&token->turn, next);
    if (atomic_load(&token->sleepers) > 0)
        syscall(SYS_futex, &token->turn, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

#endif
