/*
 * Threads that take turns, in the same order on every run.
 */
#ifndef TURNS_H
#define TURNS_H

#include <pthread.h>

static pthread_mutex_t turns_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turns_changed = PTHREAD_COND_INITIALIZER;
static int turn;

/* Waits until it is turn `mine`. */
static inline void wait_for_turn(int mine)
{
    pthread_mutex_lock(&turns_lock);
    while (turn != mine)
        pthread_cond_wait(&turns_changed, &turns_lock);
    pthread_mutex_unlock(&turns_lock);
}

static inline void next_turn(void)
{
    pthread_mutex_lock(&turns_lock);
    turn++;
    pthread_cond_broadcast(&turns_changed);
    pthread_mutex_unlock(&turns_lock);
}

#endif
